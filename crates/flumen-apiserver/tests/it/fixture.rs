//! A server and the simplest client that there is.

use std::fmt::Write as _;

use flumen_apiserver::{
    Api, ApiOptions, AuthOptions, Server, ServerOptions, StateDir, StaticTokens,
};
use flumen_store::{Options, Store};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

pub(crate) const ADMIN_TOKEN: &str = "t0ken";
const TOKENS: &str = "t0ken,admin,admin-uid,\"system:masters\"\nother,jane,jane-uid,\"people\"\n";

pub(crate) struct Fixture {
    server: Server,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::start_with(ApiOptions::default()).await
    }

    pub(crate) async fn start_with(of_api: ApiOptions) -> Self {
        let store = Store::in_memory(Options::default()).expect("it works");
        let auth = AuthOptions {
            tokens: StaticTokens::parse(TOKENS).expect("it works"),
            ..AuthOptions::default()
        };
        let options = ServerOptions {
            address: "127.0.0.1:0".parse().expect("it works"),
            tls: false,
            certificate: None,
            auth,
            state: StateDir(None),
        };
        let api = Api::open_with(store, of_api).await.expect("it works");
        Self { server: Server::start(api, options).await.expect("it works") }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// A request of the administrator.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> Reply {
        let mut headers = headers.to_vec();
        headers.push("Authorization: Bearer t0ken");
        self.send(method, path, &headers, body.as_bytes()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Reply {
        self.ask("POST", path, &["Content-Type: application/json"], &object.to_string()).await
    }

    /// Begins a request of the administrator, whose body the server waits for.
    pub(crate) async fn begin(&self, method: &str, path: &str, length: usize) -> Begun {
        const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let address = self.server.address();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Authorization: Bearer {ADMIN_TOKEN}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).await.expect("it works");
        stream.write_all(head.as_bytes()).await.expect("it works");
        let mut answer = [0; GO_ON.len()];
        stream.read_exact(&mut answer).await.expect("it works");
        assert_eq!(answer, GO_ON);
        Begun(stream)
    }

    /// A request with nothing added but what HTTP needs.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Reply {
        let address = self.server.address();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            let _ = write!(head, "Host: {address}\r\n");
        }
        for header in headers {
            let _ = write!(head, "{header}\r\n");
        }
        let _ = write!(head, "Content-Length: {}\r\n\r\n", body.len());
        let mut stream = TcpStream::connect(address).await.expect("it works");
        stream.write_all(head.as_bytes()).await.expect("it works");
        // A server that has heard enough may close before all of it is sent.
        let _ = stream.write_all(body).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        parse(&answer)
    }
}

/// A watch that was answered, and what of its text was not yet read.
pub(crate) struct Watcher {
    answer: Response,
    unread: Vec<u8>,
}

impl Watcher {
    pub(crate) async fn start(client: &Client, url: &str) -> Self {
        let request = client.get(url).bearer_auth(ADMIN_TOKEN);
        let answer = request.send().await.expect("the server answers");
        assert_eq!(answer.status(), 200);
        Self { answer, unread: Vec::new() }
    }

    pub(crate) async fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return String::from_utf8(line).expect("text");
            }
            let more = self.answer.chunk().await.expect("the watch goes on");
            self.unread.extend_from_slice(&more.expect("the watch does not end"));
        }
    }

    pub(crate) async fn event(&mut self) -> Value {
        serde_json::from_str(&self.line().await).expect("JSON")
    }
}

/// A request whose head the server has accepted.
pub(crate) struct Begun(TcpStream);

impl Begun {
    pub(crate) async fn finish(&mut self, body: &str) -> Reply {
        self.0.write_all(body.as_bytes()).await.expect("it works");
        let mut answer = Vec::new();
        self.0.read_to_end(&mut answer).await.expect("it works");
        parse(&answer)
    }
}

fn parse(answer: &[u8]) -> Reply {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = answer.get(end + 4..).unwrap_or_default().to_vec();
    Reply { status, head, body }
}
