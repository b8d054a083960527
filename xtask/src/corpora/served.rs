//! A server that a corpus is run against.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::Result;

/// The user whose name is in the recordings.
const TOKEN: &str = "secret";
const USERS: &str = "secret,admin,admin-uid,system:masters\n";
const LISTENING: &str = "listening on ";

/// `flumen apiserver` with nothing in it; it ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Served {
    process: Child,
    url: String,
    _scratch: TempDir,
}

impl Served {
    pub(super) fn start(binary: &Path, options: &[&str]) -> Result<Self> {
        let scratch = tempfile::tempdir()?;
        let users = scratch.path().join("users.csv");
        fs::write(&users, USERS)?;
        let mut command = Command::new(binary);
        command.args([
            "apiserver",
            "--insecure-http",
            "--addr",
            "127.0.0.1:0",
            "--token-auth-file",
        ]);
        command.arg(users).args(options).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let said = process.stderr.take().ok_or("the server has no stderr")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        let url = line.trim().strip_prefix(LISTENING).map(str::to_owned);
        let mut served = Self { process, url: String::new(), _scratch: scratch };
        served.url = url.ok_or_else(|| format!("the server said `{}`", line.trim()))?;
        Ok(served)
    }

    /// What a runner has to be told.
    pub(super) fn arguments(&self) -> [&str; 4] {
        ["--server", &self.url, "--token", TOKEN]
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
