//! An HTTP server that answers from a script, for what a real server does only after hours or when broken.

use std::sync::{Arc, Mutex, PoisonError};

use flumen_kube::{Client, ConnectOptions};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// Plain HTTP on a port of its own, until the test ends.
pub(crate) struct Scripted {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Status and body for a request, such as `GET /api?limit=500`, by the number of requests before it.
pub(crate) trait Script:
    Fn(&str, usize) -> (u16, &'static str) + Copy + Send + Sync + 'static
{
}
impl<F: Fn(&str, usize) -> (u16, &'static str) + Copy + Send + Sync + 'static> Script for F {}

impl Scripted {
    pub(crate) async fn start(script: impl Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, script, seen.clone()));
            }
        });
        Self { address, requests }
    }

    pub(crate) async fn client(&self) -> Client {
        let server = Some(self.address.clone());
        let options = ConnectOptions { server, ..ConnectOptions::default() };
        Client::connect(&options).await.expect("a client")
    }

    /// Method and path of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Requests without bodies, one after the other.
async fn serve(stream: TcpStream, script: impl Script, seen: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim().is_empty() => {
                let first: String = head.first().cloned().unwrap_or_default();
                head.clear();
                let request = first.trim().trim_end_matches(" HTTP/1.1").to_owned();
                let (status, body) = {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.push(request.clone());
                    script(&request, seen.len() - 1)
                };
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
            Ok(_) => head.push(line),
        }
    }
}
