//! `flumen registry`: it says where it listens, answers there, and ends when it is told to.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use super::{Scratch, serving::Serving};

#[test]
fn a_registry_serves_until_it_is_told_to_stop() {
    let scratch = Scratch::new();
    let serve = ["registry", "serve", "--data", "data", "--allowed-host", "x"];
    let mut registry = Serving::start(&scratch, &serve);
    let address = registry.url.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(address).expect("connects");
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
