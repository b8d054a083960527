//! Input that means harm, or might as well: bombs, loops, escapes, lures.
//!
//! Small inputs stand in `corpus/hostile` as text archives; large ones are made in [`large`]. Of
//! every one the same is asked, whatever it tries: an orderly end in good time, nothing on the
//! terminal that is not text, nothing read from outside, nothing written, nothing started. The
//! header of an archive adds
//!
//! | key | meaning | default |
//! | --- | --- | --- |
//! | `expect` | `refuse`, or `either` where both answers are right | `refuse` |
//! | `says` | words that the message must contain (may repeat) | anything |
//! | `never` | words that must not be printed (may repeat) | none |

use std::{fs, path::Path, time::Instant};

use flumen_testkit::{Case, Outcome, PATIENCE, repository_root, run};

mod large;

/// Seconds of processor time; the clock would also count what other programs take. Two seconds is the goal for a
/// release build, which this is not.
const LIMIT: &str = "ulimit -t 20 && exec \"$0\" \"$@\"";
const MAX_LINES: usize = 40;
const MAX_BYTES: usize = 16 << 10;

/// What is asked of one input.
#[derive(Debug, Default)]
pub(crate) struct Expectation {
    either: bool,
    says: Vec<String>,
    never: Vec<String>,
}

impl Expectation {
    fn refuse() -> Self {
        Self::default()
    }

    fn either() -> Self {
        Self { either: true, ..Self::default() }
    }

    fn of(case: &Case) -> Self {
        let mut expectation = Self { says: case.says.clone(), ..Self::default() };
        for line in &case.description {
            match line.split_once(": ") {
                Some(("expect", "either")) => expectation.either = true,
                Some(("expect", other)) => panic!("{}: cannot expect `{other}`", case.name),
                Some(("never", words)) => expectation.never.push(words.to_owned()),
                _ => {}
            }
        }
        expectation
    }

    /// What is wrong with an outcome, in words.
    fn faults(&self, outcome: &Outcome) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend(outcome.accident());
        if outcome.succeeded() {
            if !self.either {
                faults.push("was accepted".to_owned());
            }
        } else {
            if !outcome.stdout.is_empty() {
                faults.push("printed output although it refused".to_owned());
            }
            faults.extend(message_faults(&outcome.stderr));
            for words in self.says.iter().filter(|words| !outcome.stderr.contains(*words)) {
                faults.push(format!("the message lacks `{words}`"));
            }
        }
        let stdout = String::from_utf8_lossy(&outcome.stdout);
        for words in &self.never {
            if stdout.contains(words) || outcome.stderr.contains(words) {
                faults.push(format!("printed `{words}`"));
            }
        }
        faults
    }
}

/// A message is there, short, and nothing but text.
fn message_faults(message: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if message.trim().is_empty() {
        faults.push("refused without a message".to_owned());
    }
    if message.lines().count() > MAX_LINES || message.len() > MAX_BYTES {
        faults.push(format!("the message has {} bytes", message.len()));
    }
    let raw = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(c) = message.chars().find(|c| raw(*c)) {
        faults.push(format!("the message has a raw {c:?}"));
    }
    faults
}

/// Builds in `directory` and says what is wrong with the way it went.
pub(crate) fn judge(
    arguments: &[String],
    directory: &Path,
    expectation: &Expectation,
) -> Vec<String> {
    let before = listing(directory);
    let begin = Instant::now();
    let program = crate::binary().to_string_lossy();
    let limited: Vec<&str> =
        ["-c", LIMIT, &*program].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let outcome = run(Path::new("/bin/sh"), &limited, directory, PATIENCE).expect("it starts");
    let mut faults = expectation.faults(&outcome);
    if listing(directory) != before {
        faults.push("files appeared or vanished".to_owned());
    }
    if !faults.is_empty() {
        let shown: String = outcome.stderr.chars().take(600).collect();
        faults.push(format!("after {:?}: {}", begin.elapsed(), shown.escape_debug()));
    }
    faults
}

/// The paths below a directory, links not followed.
fn listing(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("directory reads") {
            let entry = entry.expect("entry reads");
            if entry.file_type().expect("type reads").is_dir() {
                open.push(entry.path());
            }
            found.push(entry.path().to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn small_inputs_do_no_harm() {
    let cases = Case::load_all(&repository_root().join("corpus/hostile")).expect("cases load");
    assert!(!cases.is_empty(), "there are no hostile cases");
    let mut failures = Vec::new();
    for case in &cases {
        let scratch = case.materialise().expect("tree is written");
        let mut arguments = vec!["build".to_owned()];
        arguments.extend(case.flags.iter().cloned());
        arguments.push(case.path.clone());
        let faults = judge(&arguments, scratch.path(), &Expectation::of(case));
        if !faults.is_empty() {
            failures.push(format!("FAIL {}\n    {}", case.name, faults.join("\n    ")));
        }
    }
    assert!(
        failures.is_empty(),
        "\n{}\n{} of {} hostile inputs did no harm",
        failures.join("\n"),
        cases.len() - failures.len(),
        cases.len()
    );
}

#[test]
fn harm_is_noticed() {
    let outcome = |status, stdout: &str, stderr: &str| Outcome {
        status: Some(status),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.to_owned(),
        timed_out: false,
    };
    let check = |outcome: &Outcome, faults: &[&str]| {
        let expectation = Expectation {
            never: vec!["canary".to_owned()],
            says: vec!["why".to_owned()],
            either: false,
        };
        assert_eq!(expectation.faults(outcome), faults);
    };
    check(&outcome(1, "", "why"), &[]);
    check(&outcome(0, "a canary", ""), &["was accepted", "printed `canary`"]);
    check(&outcome(101, "", "why"), &["panicked (status 101)"]);
    check(&outcome(1, "", ""), &["refused without a message", "the message lacks `why`"]);
    check(&outcome(1, "", "why \u{1b}[31m"), &["the message has a raw '\\u{1b}'"]);
    check(&outcome(1, "x", "why"), &["printed output although it refused"]);
    check(&outcome(1, "", &"why\n".repeat(50)), &["the message has 200 bytes"]);
}
