//! Headings, times, and the account that a run of several steps closes with.

use std::{
    io::{self, Write as _},
    time::Instant,
};

use crate::Result;

/// Prints a line on standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A run of several steps, each of which is tried even when an earlier one failed.
#[derive(Debug)]
pub(crate) struct Progress {
    begin: Instant,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), passed: 0, failed: Vec::new(), skipped: Vec::new() }
    }

    /// Runs one step under its heading and notes how it ended.
    pub(crate) fn step(&mut self, title: &str, work: impl FnOnce() -> Result) {
        say(&format!("==> {title}"));
        let begin = Instant::now();
        let outcome = work();
        let seconds = begin.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => {
                self.passed += 1;
                say(&format!("    ok, {seconds:.1} s"));
            }
            Err(error) => {
                say(&format!("    FAILED after {seconds:.1} s: {error}"));
                self.failed.push(title.to_owned());
            }
        }
    }

    /// Notes something that is not done, in one line.
    pub(crate) fn skip(&mut self, what: &str, why: &str) {
        self.note_skipped(format!("skipped: {what}: {why}"));
    }

    pub(crate) fn note_skipped(&mut self, line: String) {
        if !self.skipped.contains(&line) {
            self.skipped.push(line);
        }
    }

    /// Prints what was skipped and the summary; an error when any step failed.
    pub(crate) fn finish(self) -> Result {
        for line in &self.skipped {
            say(line);
        }
        let seconds = self.begin.elapsed().as_secs();
        say(&format!(
            "{} steps passed, {} failed, {} skipped, {}:{:02} min",
            self.passed,
            self.failed.len(),
            self.skipped.len(),
            seconds / 60,
            seconds % 60
        ));
        if self.failed.is_empty() {
            return Ok(());
        }
        Err(format!("failed: {}", self.failed.join(", ")).into())
    }
}
