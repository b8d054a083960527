//! An HTTP server that answers from a script, for what a real server does only after hours or when broken.

use std::{io::Write as _, sync::Arc};

use flate2::{Compression, write::GzEncoder};
use flumen_kube::{Client, ConnectOptions};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// Plain HTTP on a port of its own, until the test ends.
pub(crate) struct Scripted {
    address: String,
    requests: Arc<Mutex<Vec<Head>>>,
}

/// The first line of a request and its headers.
#[derive(Clone, Default)]
pub(crate) struct Head(Vec<String>);

impl Head {
    /// Method and path.
    pub(crate) fn line(&self) -> &str {
        self.0.first().map_or("", |line| line.trim_end_matches(" HTTP/1.1"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.0.iter().filter_map(|line| line.split_once(": "));
        let mut named = headers.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value)
    }
}

/// How bodies are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Plain,
    /// With gzip, if the request allows it.
    Gzip,
    /// With gzip, and the first answer without its end.
    FirstCut,
}

/// Status and body for a request, such as `GET /api?limit=500`, by the number of requests before it.
pub(crate) trait Script:
    Fn(&str, usize) -> (u16, &'static str) + Copy + Send + Sync + 'static
{
}
impl<F: Fn(&str, usize) -> (u16, &'static str) + Copy + Send + Sync + 'static> Script for F {}

impl Scripted {
    pub(crate) async fn start(script: impl Script) -> Self {
        Self::start_with(Encoding::Plain, script).await
    }

    pub(crate) async fn start_with(encoding: Encoding, script: impl Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::<Mutex<Vec<Head>>>::default();
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, encoding, script, seen.clone()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) async fn client(&self) -> Client {
        let server = Some(self.address.clone());
        let options = ConnectOptions { server, ..ConnectOptions::default() };
        Client::connect(&options).await.expect("a client")
    }

    /// Method and path of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.heads().iter().map(|head| head.line().to_owned()).collect()
    }

    /// What all requests so far started with.
    pub(crate) fn heads(&self) -> Vec<Head> {
        self.requests.lock().clone()
    }
}

/// Requests without bodies, one after the other.
async fn serve(
    stream: TcpStream,
    encoding: Encoding,
    script: impl Script,
    seen: Arc<Mutex<Vec<Head>>>,
) {
    let mut stream = BufReader::new(stream);
    let mut head = Head::default();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim().is_empty() => {
                let request = std::mem::take(&mut head);
                let (earlier, (status, body)) = {
                    let mut seen = seen.lock();
                    seen.push(request.clone());
                    (seen.len() - 1, script(request.line(), seen.len() - 1))
                };
                let is_compressed = encoding != Encoding::Plain
                    && request.header("accept-encoding").is_some_and(|value| value == "gzip");
                let (header, body) = if is_compressed {
                    ("content-encoding: gzip\r\n", compress(body, encoding, earlier))
                } else {
                    ("", body.as_bytes().to_vec())
                };
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{header}content-length: {}\r\n\r\n",
                    body.len()
                );
                let answer = [answer.as_bytes(), &body].concat();
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
            Ok(_) => head.0.push(line.trim().to_owned()),
        }
    }
}

/// In two members, as a server may that flushes in between.
fn compress(body: &str, encoding: Encoding, earlier: usize) -> Vec<u8> {
    let member = |part: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(part).expect("in memory");
        gzip.finish().expect("in memory")
    };
    let (first, second) = body.as_bytes().split_at(body.len() / 2);
    let mut bytes = [member(first), member(second)].concat();
    if encoding == Encoding::FirstCut && earlier == 0 {
        bytes.truncate(bytes.len() - 4);
    }
    bytes
}
