//! Directories that do not outlive a test, even if it is killed.

use std::{
    io::{self, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

/// Reads a pipe that only the test process can write to. A line tells it that there is nothing to do.
const SWEEP: &str = r#"read -r line || rm -rf -- "$1""#;

/// Removes a directory when the test process ends without having done so.
#[derive(Debug)]
pub(super) struct Sweeper {
    child: Child,
    guard: ChildStdin,
}

impl Sweeper {
    pub(super) fn start(directory: &Path) -> io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", SWEEP, "sh"])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let guard = child.stdin.take().ok_or_else(|| io::Error::other("it has no guard"))?;
        Ok(Self { child, guard })
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        let _ = self.guard.write_all(b"\n");
        let _ = self.child.wait();
    }
}
