//! Steps of a run: their headings, outcomes, times, and the summary at the end.

use std::{
    fmt::{Display, Write as _},
    io::{self, Write as _},
    time::Instant,
};

use crate::{Result, times::Times};
use parking_lot::{Mutex, MutexGuard};

/// How a line begins that reports a retry.
const RETRIED: &str = "retried: ";

/// Prints a line on standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A run of several steps. A step that fails does not stop the others. Steps may run side by side.
#[derive(Debug)]
pub(crate) struct Progress {
    begin: Instant,
    outcomes: Mutex<Outcomes>,
}

#[derive(Debug, Default)]
struct Outcomes {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    retried: Vec<String>,
    tests: TestCounts,
    times: Times,
}

/// Tests of one or several programs, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

/// The output of a step that runs beside others; it is printed in one piece when the step ends.
#[derive(Debug, Default)]
pub(crate) struct Log(String);

impl Log {
    pub(crate) fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "    {line}");
    }

    /// Adds the output of a program as it is.
    pub(crate) fn text(&mut self, text: &str) {
        self.0.push_str(text);
        if !text.ends_with('\n') && !text.is_empty() {
            self.0.push('\n');
        }
    }
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), outcomes: Mutex::default() }
    }

    /// Runs one step under its heading. The output of `work` goes straight to the terminal.
    pub(crate) fn step<T>(&self, title: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        say(&format!("==> {title}"));
        self.timed(title, |_| work())
    }

    /// Runs one step that may run beside others: its heading and output appear when it ends.
    pub(crate) fn step_aside(&self, title: &str, work: impl FnOnce(&mut Log) -> Result) {
        self.timed(title, |log| {
            let outcome = work(log);
            log.0.insert_str(0, &format!("==> {title}\n"));
            outcome
        });
    }

    fn timed<T>(&self, title: &str, work: impl FnOnce(&mut Log) -> Result<T>) -> Option<T> {
        let begin = Instant::now();
        let mut log = Log::default();
        let outcome = work(&mut log);
        let seconds = begin.elapsed().as_secs_f64();
        let mut outcomes = self.outcomes();
        outcomes.times.add_step(title, seconds);
        match outcome {
            Ok(value) => {
                outcomes.passed += 1;
                say(&format!("{}    ok, {seconds:.1} s", log.0));
                Some(value)
            }
            Err(error) => {
                say(&format!("{}    FAILED after {seconds:.1} s: {error}", log.0));
                outcomes.failed.push(title.to_owned());
                None
            }
        }
    }

    /// Notes a check that is left out, in one line.
    pub(crate) fn skip(&self, what: &str, why: &str) {
        self.note(format!("skipped: {what}: {why}"));
    }

    /// Takes over a line by which a test says that it skipped or retried something.
    pub(crate) fn note(&self, line: String) {
        let mut outcomes = self.outcomes();
        if line.starts_with(RETRIED) {
            outcomes.retried.push(line);
        } else if !outcomes.skipped.contains(&line) {
            outcomes.skipped.push(line);
        }
    }

    /// Notes that a check failed and runs again, and why that is allowed.
    pub(crate) fn retry(&self, what: &str, why: &str) {
        self.note(format!("{RETRIED}{what}: {why}"));
    }

    pub(crate) fn add_tests(&self, counts: TestCounts) {
        let tests = &mut self.outcomes().tests;
        tests.passed += counts.passed;
        tests.failed += counts.failed;
    }

    pub(crate) fn add_times(&self, record: impl FnOnce(&mut Times)) {
        record(&mut self.outcomes().times);
    }

    /// Prints the times, everything skipped or retried, and the summary. Returns an error if any step failed.
    pub(crate) fn finish(self) -> Result {
        let elapsed = self.begin.elapsed().as_secs();
        let outcomes = self.outcomes.into_inner();
        say(&outcomes.times.table());
        outcomes.times.write(elapsed)?;
        for line in outcomes.skipped.iter().chain(&outcomes.retried) {
            say(line);
        }
        say(&format!(
            "{} steps passed, {} failed, {} skipped, {} retries, {}:{:02} min",
            outcomes.passed,
            outcomes.failed.len(),
            outcomes.skipped.len(),
            outcomes.retried.len(),
            elapsed / 60,
            elapsed % 60
        ));
        let tests = outcomes.tests;
        say(&format!("tests: {} passed, {} failed", tests.passed, tests.failed));
        if outcomes.failed.is_empty() {
            return Ok(());
        }
        Err(format!("failed: {}", outcomes.failed.join(", ")).into())
    }

    /// A panic while the lock is held leaves complete entries, so the lock stays usable.
    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_report_what_they_skip_once_and_every_retry() {
        let progress = Progress::start();
        for _ in 0..2 {
            progress.note("skipped: a check: no tool".to_owned());
            progress.note("retried: a start: the port was taken".to_owned());
        }
        let outcomes = progress.outcomes();
        assert_eq!(outcomes.skipped, ["skipped: a check: no tool"]);
        assert_eq!(outcomes.retried.len(), 2);
    }
}
