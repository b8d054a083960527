//! Programs that end with the test process, however that ends.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
};

/// Becomes the program and leaves a guard behind, which reads a pipe that only the test process
/// can write to. A line tells it to go. The end of the pipe without one means that the test
/// process is gone: the guard ends the program and removes its directory.
///
/// `PR_SET_PDEATHSIG` would be no help: it follows the thread, and tests are threads.
const GUARD: &str = r#"
exec 3<&0 </dev/null
scratch=$1
shift
{ read -r line <&3 || { kill -9 $$; rm -rf -- "$scratch"; }; } >/dev/null 2>&1 &
exec "$@" 3<&-
"#;

/// A running program; it ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    name: String,
    child: Child,
    guard: ChildStdin,
    log: PathBuf,
}

impl Guarded {
    /// Starts a program that works in `scratch`; what it prints is appended to a file there.
    pub(super) fn start(program: &Path, arguments: &[String], scratch: &Path) -> io::Result<Self> {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let log = scratch.join(format!("{name}.log"));
        let output = File::options().create(true).append(true).open(&log)?;
        let mut child = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .args([scratch, program])
            .args(arguments)
            .current_dir(scratch)
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        let guard = child.stdin.take().ok_or_else(|| io::Error::other("it has no guard"))?;
        Ok(Self { name, child, guard, log })
    }

    /// Ends the program without giving it a chance to clean up.
    pub(super) fn end(&mut self) {
        let _ = self.child.kill();
        // Before its number can be given to another program.
        let _ = self.guard.write_all(b"\n");
        let _ = self.child.wait();
    }

    /// An error with the end of its log when the program is no longer running.
    pub(super) fn check(&mut self) -> io::Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(io::Error::other(self.account(status))),
        }
    }

    /// The last lines of its log.
    pub(super) fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().rev().take(15).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn account(&self, status: ExitStatus) -> String {
        format!("`{}` ended with {status}:\n{}", self.name, self.last_words())
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}
