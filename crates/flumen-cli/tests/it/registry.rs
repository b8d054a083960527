//! `flumen registry`: it says where it listens, answers there, and ends when it is told to.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use super::{Scratch, binary};

/// A running registry, and where it says that it listens.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(scratch: &Scratch) -> Self {
        let mut child = Command::new(binary())
            .args(["registry", "serve", "--data", "data", "--addr", "127.0.0.1:0"])
            .current_dir(scratch.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on http://").expect("an address");
        Self { child, address: address.to_owned() }
    }
}

impl Drop for Serving {
    /// Nothing stays behind when a check fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_registry_serves_until_it_is_told_to_stop() {
    let scratch = Scratch::new();
    let mut registry = Serving::start(&scratch);
    let mut stream = TcpStream::connect(&registry.address).expect("connects");
    stream.write_all(b"GET /v2/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("writes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");

    let collect = ["registry", "gc", "--data", "data"];
    scratch.check_refused(&collect, 1, &["in use by another registry"]);

    let pid = registry.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    assert!(registry.child.wait().expect("ends").success());

    scratch.check(&collect, "");
}

#[test]
fn the_world_is_let_in_only_on_purpose() {
    let scratch = Scratch::new();
    let serve = ["registry", "serve", "--data", "data", "--addr", "0.0.0.0:0"];
    let words = ["can be reached from other machines", "--auth-file", "--allow-anonymous"];
    scratch.check_refused(&serve, 1, &words);
    assert!(!scratch.path().join("data").exists());
}
