//! Golden cases: one behaviour, its input, and what the reference tool made of it.
//!
//! The header of the archive describes the behaviour in prose and carries four keys:
//!
//! | key | meaning | default |
//! | --- | --- | --- |
//! | `recorded` | tool and version that gave the answer | never recorded |
//! | `path` | argument of the build | `.` |
//! | `flags` | further arguments, separated by blanks | none |
//! | `says` | words that standard error must contain (may repeat) | anything |
//!
//! The answer stands in `== stdout ==`, or in `== error ==` when the tool refused. Warnings of a
//! successful build stand in `== stderr ==`. Of the reference's messages only the words in `says`
//! bind us: our wording is meant to be better.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use thiserror::Error;

use crate::{
    archive::{Archive, ArchiveError, Entry},
    diff::difference,
    process::{self, Outcome, PATIENCE},
};

/// Stands for the absolute path of the tree in recorded messages.
const ROOT: &str = "<ROOT>";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// `area/behaviour`, from the place of the file.
    pub name: String,
    pub description: Vec<String>,
    pub recorded: Option<String>,
    pub path: String,
    pub flags: Vec<String>,
    pub says: Vec<String>,
    pub files: Vec<Entry>,
    pub expected: Option<Expected>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    Output { stdout: Vec<u8>, warnings: String },
    Error { stderr: String },
}

/// Why a case cannot be used.
#[derive(Debug, Error)]
pub enum CaseError {
    #[error("{name}: not an archive")]
    Archive { name: String, source: ArchiveError },
    #[error("{name}: {reason}")]
    Malformed { name: String, reason: &'static str },
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl Case {
    pub fn parse(name: &str, text: &str) -> Result<Self, CaseError> {
        let archive = Archive::parse(text)
            .map_err(|source| CaseError::Archive { name: name.to_owned(), source })?;
        let malformed = |reason| CaseError::Malformed { name: name.to_owned(), reason };
        let expected = match (archive.section("stdout"), archive.section("error")) {
            (Some(_), Some(_)) => return Err(malformed("both output and error are recorded")),
            (Some(stdout), None) => Some(Expected::Output {
                stdout: stdout.to_vec(),
                warnings: text_of(archive.section("stderr")),
            }),
            (None, Some(stderr)) => Some(Expected::Error { stderr: text_of(Some(stderr)) }),
            (None, None) => None,
        };
        let mut case = Self {
            name: name.to_owned(),
            description: Vec::new(),
            recorded: None,
            path: ".".to_owned(),
            flags: Vec::new(),
            says: Vec::new(),
            files: archive.files,
            expected,
        };
        for line in archive.header {
            match line.split_once(": ").map(|(key, value)| (key, value.trim())) {
                Some(("recorded", value)) => case.recorded = Some(value.to_owned()),
                Some(("path", value)) => value.clone_into(&mut case.path),
                Some(("flags", value)) => {
                    case.flags = value.split_whitespace().map(str::to_owned).collect();
                }
                Some(("says", value)) => case.says.push(value.to_owned()),
                _ => case.description.push(line),
            }
        }
        if case.description.iter().all(String::is_empty) {
            return Err(malformed("the header must say what is shown"));
        }
        if case.files.is_empty() {
            return Err(malformed("the tree is empty"));
        }
        Ok(case)
    }

    /// The text of the case's file; the order of the header is fixed.
    pub fn write(&self) -> String {
        let mut header = self.description.clone();
        let mut key = |key: &str, value: &str| header.push(format!("{key}: {value}"));
        if let Some(recorded) = &self.recorded {
            key("recorded", recorded);
        }
        if self.path != "." {
            key("path", &self.path);
        }
        if !self.flags.is_empty() {
            key("flags", &self.flags.join(" "));
        }
        for words in &self.says {
            key("says", words);
        }
        let mut sections = Vec::new();
        match &self.expected {
            Some(Expected::Output { stdout, warnings }) => {
                sections.push(("stdout".to_owned(), stdout.clone()));
                if !warnings.is_empty() {
                    sections.push(("stderr".to_owned(), warnings.clone().into_bytes()));
                }
            }
            Some(Expected::Error { stderr }) => {
                sections.push(("error".to_owned(), stderr.clone().into_bytes()));
            }
            None => {}
        }
        Archive { header, files: self.files.clone(), sections }.write()
    }

    /// All cases below `directory`, by name. A file that is no case is an error, not ignored.
    pub fn load_all(directory: &Path) -> Result<Vec<Self>, CaseError> {
        let mut cases = Vec::new();
        for path in case_files(directory)? {
            let text = fs::read_to_string(&path)
                .map_err(|source| CaseError::Read { path: path.clone(), source })?;
            let name = path.strip_prefix(directory).unwrap_or(&path).with_extension("");
            cases.push(Self::parse(&name.to_string_lossy().replace('\\', "/"), &text)?);
        }
        Ok(cases)
    }

    /// Writes the tree to a scratch directory that vanishes with the returned value.
    pub fn materialise(&self) -> io::Result<TempDir> {
        let scratch = tempfile::Builder::new().prefix("flumen-case-").tempdir()?;
        let archive = Archive { files: self.files.clone(), ..Archive::default() };
        archive.unpack(scratch.path())?;
        Ok(scratch)
    }

    /// Runs `program build FLAGS PATH` in a fresh copy of the tree.
    ///
    /// The name of the scratch directory is taken out of the messages, since it changes each time.
    pub fn run(&self, program: &Path) -> io::Result<Outcome> {
        let scratch = self.materialise()?;
        let root = scratch.path().canonicalize()?;
        let mut arguments = vec!["build".to_owned()];
        arguments.extend(self.flags.iter().cloned());
        arguments.push(self.path.clone());
        let mut outcome = process::run(program, &arguments, &root, PATIENCE)?;
        outcome.stderr = outcome.stderr.replace(&*root.to_string_lossy(), ROOT);
        Ok(outcome)
    }

    /// What the reference's answer says about the outcome: `Err` describes the disagreement.
    pub fn judge(&self, outcome: &Outcome) -> Result<(), String> {
        if let Some(accident) = outcome.accident() {
            return Err(format!("{accident}\n{}", outcome.stderr.trim_end()));
        }
        match &self.expected {
            None => return Err("has no recorded answer".to_owned()),
            Some(Expected::Output { stdout, .. }) => {
                if !outcome.succeeded() {
                    return Err(format!("should build, but:\n{}", outcome.stderr.trim_end()));
                }
                if let Some(difference) = difference(stdout, &outcome.stdout) {
                    return Err(difference);
                }
            }
            Some(Expected::Error { stderr }) => {
                if outcome.succeeded() {
                    return Err(format!("should be refused with:\n{}", stderr.trim_end()));
                }
                if !outcome.refused() {
                    return Err("printed output although it refused".to_owned());
                }
                if outcome.stderr.trim().is_empty() {
                    return Err("refused without a message".to_owned());
                }
            }
        }
        let unsaid: Vec<_> =
            self.says.iter().filter(|words| !outcome.stderr.contains(words.as_str())).collect();
        if unsaid.is_empty() {
            return Ok(());
        }
        Err(format!("the message lacks {unsaid:?}:\n{}", outcome.stderr.trim_end()))
    }

    /// Takes the outcome of the reference tool as the expected answer.
    pub fn record(&mut self, tool: &str, outcome: Outcome) {
        self.recorded = Some(tool.to_owned());
        self.expected = Some(if outcome.succeeded() {
            Expected::Output { stdout: outcome.stdout, warnings: repeatable(&outcome.stderr) }
        } else {
            Expected::Error { stderr: repeatable(&outcome.stderr) }
        });
    }
}

/// Takes out of a message what differs in every run: pointers, and the time before a logged line.
fn repeatable(text: &str) -> String {
    text.split_inclusive('\n').map(|line| without_addresses(without_time(line))).collect()
}

fn without_time(line: &str) -> &str {
    const SHAPE: &[u8] = b"0000/00/00 00:00:00 ";
    let same = |(byte, shape): (u8, &u8)| {
        if *shape == b'0' { byte.is_ascii_digit() } else { byte == *shape }
    };
    let timed = line.len() >= SHAPE.len() && line.bytes().zip(SHAPE).all(same);
    if timed { &line[SHAPE.len()..] } else { line }
}

fn without_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("0x") {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(before);
        out.push_str("0x");
        out.push_str(if digits >= 6 { "ADDRESS" } else { &after[..digits] });
        rest = &after[digits..];
    }
    out.push_str(rest);
    out
}

fn text_of(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// The `.txt` files below a directory, sorted.
fn case_files(directory: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let failed = |source| CaseError::Read { path: directory.clone(), source };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "txt") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Says hello.
# recorded: kustomize v5.8.1
# path: overlay
# flags: --reorder legacy
# says: hello
-- overlay/kustomization.yaml --
resources: []
== stdout ==
a: 1
== stderr ==
# Warning
";

    fn outcome(status: i32, stdout: &str, stderr: &str) -> Outcome {
        Outcome {
            status: Some(status),
            stdout: stdout.as_bytes().to_vec(),
            stderr: stderr.to_owned(),
            timed_out: false,
        }
    }

    #[track_caller]
    fn check(text: &str, outcome: &Outcome, verdict: Result<(), &str>) {
        let case = Case::parse("area/name", text).expect("case reads");
        assert_eq!(case.judge(outcome), verdict.map_err(str::to_owned));
    }

    #[test]
    fn cases_read_back_as_written() {
        let case = Case::parse("area/name", TEXT).expect("reads");
        assert_eq!(case.path, "overlay");
        assert_eq!(case.flags, ["--reorder", "legacy"]);
        assert_eq!(case.description, ["Says hello."]);
        assert_eq!(case.write(), TEXT);
    }

    #[test]
    fn output_must_be_equal() {
        check(TEXT, &outcome(0, "a: 1\n", "hello"), Ok(()));
        check(TEXT, &outcome(1, "", "no"), Err("should build, but:\nno"));
        check(TEXT, &outcome(101, "", "oops"), Err("panicked (status 101)\noops"));
        check(
            TEXT,
            &outcome(0, "a: 2\n", "hello"),
            Err("--- expected\n+++ got\n@@ -1 +1 @@\n-a: 1\n+a: 2"),
        );
        check(TEXT, &outcome(0, "a: 1\n", "hi"), Err("the message lacks [\"hello\"]:\nhi"));
    }

    #[test]
    fn refusals_must_be_orderly() {
        let text = "# No.\n# says: missing\n-- a --\n== error ==\nmissing a\n";
        check(text, &outcome(1, "", "a is missing"), Ok(()));
        check(text, &outcome(1, "", "nope"), Err("the message lacks [\"missing\"]:\nnope"));
        check(text, &outcome(0, "x", ""), Err("should be refused with:\nmissing a"));
        check(text, &outcome(1, "x", "missing"), Err("printed output although it refused"));
        check(text, &outcome(1, "", " "), Err("refused without a message"));
    }

    #[test]
    fn recorded_messages_are_the_same_each_time() {
        let mut case = Case::parse("a/b", "# x\n-- a --\n").expect("case reads");
        case.record("tool 1", outcome(1, "", "2024/01/02 03:04:05 &{0x131fdf79b1e0} 0x1f\n"));
        let stderr = "&{0xADDRESS} 0x1f\n".to_owned();
        assert_eq!(case.expected, Some(Expected::Error { stderr }));
    }

    #[test]
    fn unfinished_cases_are_refused() {
        let parse = |text| Case::parse("a/b", text).expect_err("is refused").to_string();
        assert_eq!(parse("-- a --\n"), "a/b: the header must say what is shown");
        assert_eq!(parse("# x\n"), "a/b: the tree is empty");
        check("# x\n-- a --\n", &outcome(0, "", ""), Err("has no recorded answer"));
    }
}
