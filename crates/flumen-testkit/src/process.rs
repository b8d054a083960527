//! Runs a command to its end, or to the end of our patience.

use std::{
    env, io,
    io::Read,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Time limit for anything that must happen: generous enough for a slow machine that is busy with something else.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// What a finished command left behind.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The exit status; `None` when a signal or the deadline ended it.
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// It was killed because its time was up.
    pub timed_out: bool,
}

impl Outcome {
    pub fn succeeded(&self) -> bool {
        self.status == Some(0)
    }

    /// It declined in an orderly way: status 1, nothing on standard output.
    pub fn refused(&self) -> bool {
        self.status == Some(1) && self.stdout.is_empty()
    }

    /// `None` when it ended with status 0 or 1, else in words what happened.
    pub fn accident(&self) -> Option<String> {
        match self.status {
            Some(0 | 1) => None,
            Some(101) => Some("panicked (status 101)".to_owned()),
            Some(status) => Some(format!("ended with status {status}")),
            None if self.timed_out => Some("gave no answer in time".to_owned()),
            None => Some("was ended by a signal".to_owned()),
        }
    }
}

/// Runs `program` in `directory` with an environment that is the same on every machine.
///
/// Only `PATH` is passed on. `HOME` is the directory itself, so that no configuration of the
/// person running the test takes part, and `GREETING` is there for cases that read a variable.
pub fn run(
    program: &Path,
    arguments: &[impl AsRef<str>],
    directory: &Path,
    patience: Duration,
) -> io::Result<Outcome> {
    let mut command = Command::new(program);
    command
        .args(arguments.iter().map(AsRef::as_ref))
        .current_dir(directory)
        .env_clear()
        .env("HOME", directory)
        .env("GREETING", "hello from outside");
    if let Some(path) = env::var_os("PATH") {
        command.env("PATH", path);
    }
    let begin = Instant::now();
    run_until(&mut command, |pause| {
        thread::sleep(pause);
        begin.elapsed() >= patience
    })
}

/// Runs a command to its end, or kills it when `time_is_up`, which waits for no longer than it is told.
pub(crate) fn run_until(
    command: &mut Command,
    time_is_up: impl FnMut(Duration) -> bool,
) -> io::Result<Outcome> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, time_is_up)?;
    Ok(Outcome {
        status: status.and_then(|status| status.code()),
        stdout: stdout.join().unwrap_or_default(),
        stderr: String::from_utf8_lossy(&stderr.join().unwrap_or_default()).into_owned(),
        timed_out: status.is_none(),
    })
}

/// Reads a pipe on its own thread, so that a full pipe never blocks the command.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(
    child: &mut Child,
    mut time_is_up: impl FnMut(Duration) -> bool,
) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if time_is_up(pause) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Outcome {
        run(Path::new("/bin/sh"), &["-c", script], Path::new("/"), patience).expect("starts")
    }

    #[test]
    fn output_and_status_are_collected() {
        let outcome = shell("echo out; echo err >&2; exit 1", PATIENCE);
        assert_eq!(outcome.status, Some(1));
        assert_eq!(outcome.stdout, b"out\n");
        assert_eq!(outcome.stderr, "err\n");
        assert!(!outcome.refused(), "a refusal prints nothing on stdout");
        assert_eq!(outcome.accident(), None);
    }

    #[test]
    fn accidents_are_told_apart() {
        assert_eq!(shell("exit 101", PATIENCE).accident().expect("one"), "panicked (status 101)");
        assert_eq!(shell("kill -9 $$", PATIENCE).accident().expect("one"), "was ended by a signal");
        let late = shell("exec sleep 3600", Duration::from_millis(50));
        assert_eq!(late.accident().expect("one"), "gave no answer in time");
    }
}
