//! A server that answers as it is told.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

/// Gives one answer after the other, each on a connection of its own; the last one for ever.
pub(crate) struct Stub {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    pub(crate) fn start(answers: Vec<(&'static str, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            let mut served = 0;
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { break };
                let mut lines = BufReader::new(&stream).lines();
                let Some(Ok(first)) = lines.next() else { continue };
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                seen.lock().expect("not poisoned").push(first);
                let (status, body) = &answers[served.min(answers.len() - 1)];
                served += 1;
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}
