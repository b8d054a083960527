//! A server that answers as a test tells it to, and remembers what it was asked.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
        BufReader,
    },
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn body_text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// A proper answer.
    Answer { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// These bytes, and the connection closes.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing.
    Silence(Vec<u8>),
}

pub(crate) fn reply(status: u16) -> Reply {
    Reply::Answer { status, headers: Vec::new(), body: Vec::new() }
}

impl Reply {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn body(mut self, content: impl AsRef<[u8]>) -> Self {
        if let Self::Answer { body, .. } = &mut self {
            *body = content.as_ref().to_vec();
        }
        self
    }
}

/// Decides an answer; the number says how many requests came before.
type Script = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

pub(crate) struct Stub {
    host: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Stub {
    pub(crate) async fn start(
        script: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve(None, script).await
    }

    pub(crate) async fn start_tls(
        acceptor: TlsAcceptor,
        script: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Some(acceptor), script).await
    }

    async fn serve(
        acceptor: Option<TlsAcceptor>,
        script: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Script> = Arc::new(script);
        let all = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, script, acceptor) =
                    (Arc::clone(&all), Arc::clone(&script), acceptor.clone());
                tokio::spawn(async move {
                    // A client that hangs up is no failure of the server.
                    match acceptor {
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                let _ = converse(stream, &seen, script.as_ref()).await;
                            }
                        }
                        None => {
                            let _ = converse(stream, &seen, script.as_ref()).await;
                        }
                    }
                });
            }
        });
        Self { host, seen }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// What was asked, without the question which protocol is spoken here.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        let seen = self.seen.lock().expect("no panic");
        seen.iter().filter(|seen| seen.path != "/v2/").cloned().collect()
    }

    /// The same as `METHOD path`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    all: &Mutex<Vec<Seen>>,
    script: &Script,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(seen) = read_request(&mut stream).await? {
        let before = {
            let mut all = all.lock().expect("no panic");
            let before = all.iter().filter(|seen| seen.path != "/v2/").count();
            all.push(seen.clone());
            before
        };
        let reply = if seen.path == "/v2/" { reply(200) } else { script(&seen, before) };
        match reply {
            Reply::Answer { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} x\r\n");
                for (name, value) in &headers {
                    let _ = write!(head, "{name}: {value}\r\n");
                }
                let has_length = headers.iter().any(|(name, _)| name == "Content-Length");
                if !has_length {
                    let _ = write!(head, "Content-Length: {}\r\n", body.len());
                }
                head.push_str("\r\n");
                stream.write_all(head.as_bytes()).await?;
                if seen.method != "HEAD" {
                    stream.write_all(&body).await?;
                }
                stream.flush().await?;
            }
            Reply::Bytes(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Reply::Silence(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
                std::future::pending::<()>().await;
            }
        }
    }
    Ok(())
}

async fn read_request(
    stream: &mut BufReader<impl AsyncRead + AsyncWrite + Unpin>,
) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Seen { method, path, headers, body }))
}
