//! Programs that end with the test process, however that ends.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
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

/// Of a log, when it explains a failure.
const LAST_LINES: usize = 15;

/// A running program; it ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    program: PathBuf,
    arguments: Vec<String>,
    scratch: PathBuf,
    child: Child,
    guard: ChildStdin,
}

impl Guarded {
    /// Starts a program in its directory; what it prints is appended to a file there.
    pub(super) fn start(
        program: PathBuf,
        arguments: Vec<String>,
        scratch: &Path,
    ) -> io::Result<Self> {
        let (child, guard) = spawn(&program, &arguments, scratch)?;
        Ok(Self { program, arguments, scratch: scratch.to_owned(), child, guard })
    }

    /// Kills the program and starts it again in the same way.
    pub(super) fn restart(&mut self) -> io::Result<()> {
        self.end();
        (self.child, self.guard) = spawn(&self.program, &self.arguments, &self.scratch)?;
        Ok(())
    }

    /// An error when the program is no longer running.
    pub(super) fn check(&mut self) -> io::Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        Err(io::Error::other(format!("it ended with {status}:\n{}", self.last_words())))
    }

    /// The name of the program and the end of its log.
    pub(super) fn last_words(&self) -> String {
        let log = fs::read(log(&self.program, &self.scratch)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let skipped = log.lines().count().saturating_sub(LAST_LINES);
        let lines: Vec<_> = log.lines().skip(skipped).collect();
        format!("{}\n{}", self.program.display(), lines.join("\n"))
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        // Before its number can be given to another program.
        let _ = self.guard.write_all(b"\n");
        let _ = self.child.wait();
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(program: &Path, arguments: &[String], scratch: &Path) -> io::Result<(Child, ChildStdin)> {
    let output = File::options().create(true).append(true).open(log(program, scratch))?;
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
    Ok((child, guard))
}

fn log(program: &Path, scratch: &Path) -> PathBuf {
    scratch.join(program.file_stem().unwrap_or_default()).with_extension("log")
}
