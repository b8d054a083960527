//! Commands that serve until they are told to stop.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use super::{Scratch, binary};

/// A running server, and where it says that it listens.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Serving {
    /// Starts a command on a free port.
    pub(crate) fn start(scratch: &Scratch, arguments: &[&str]) -> Self {
        let mut child = Command::new(binary())
            .args(arguments)
            .args(["--addr", "127.0.0.1:0"])
            .current_dir(scratch.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut line).expect("a line");
        let url = line.trim_end().strip_prefix("listening on ").expect("an address");
        Self { child, url: url.to_owned() }
    }
}

impl Drop for Serving {
    /// Nothing stays behind when a check fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
