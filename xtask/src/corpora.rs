//! The larger corpora that some checkouts have beside them, run against the release binary.
//!
//! Each corpus brings its own runner, a Python script that prints `FAIL name …` for a failing case
//! (kustomize's with the features of the case in brackets) and closes with `N passed, M failed`. Charts are not rendered yet, so failures
//! of cases that need them are expected; everything else must pass.

use std::{path::Path, process::Command};

use crate::{Result, process::capture, progress::say};

#[derive(Debug)]
pub(crate) struct Corpus {
    pub(crate) title: &'static str,
    /// The runner and its arguments; `{flumen}` stands for the binary, `{shared}` for the
    /// directory of the corpora.
    command: &'static [&'static str],
}

pub(crate) const ALL: [Corpus; 3] = [
    Corpus {
        title: "corpus: kustomize",
        command: &["{shared}/corpus/run-kustomize", "--cmd", "{flumen} build", "-j", "2"],
    },
    Corpus {
        title: "corpus: kustomize, where builds of it differ",
        command: &[
            "{shared}/corpus/run-kustomize",
            "--cmd",
            "{flumen} build",
            "-j",
            "2",
            "--corpus",
            "{shared}/corpus/kustomize-skew",
        ],
    },
    Corpus {
        title: "corpus: hostile input",
        command: &[
            "{shared}/corpus/hostile/run",
            "--cmd-build",
            "{flumen} build",
            "--family",
            "build",
            "-v", // names the failures in lines of their own
        ],
    },
];

impl Corpus {
    pub(crate) fn run(&self, binary: &Path, shared: &Path) -> Result {
        let mut command = Command::new("python3");
        for argument in self.command {
            command.arg(
                argument
                    .replace("{flumen}", &binary.to_string_lossy())
                    .replace("{shared}", &shared.to_string_lossy()),
            );
        }
        let output = capture(&mut command)?;
        let verdict = Verdict::read(&output)?;
        for line in &verdict.failures {
            say(&format!("    {line}"));
        }
        for line in verdict.summary {
            say(&format!("    {line}"));
        }
        if verdict.failures.is_empty() {
            return Ok(());
        }
        Err(format!("{} cases failed", verdict.failures.len()).into())
    }
}

/// What a runner's output means.
#[derive(Debug, PartialEq, Eq)]
struct Verdict<'a> {
    /// `FAIL` lines that are not expected.
    failures: Vec<&'a str>,
    /// The closing lines.
    summary: Vec<&'a str>,
}

impl<'a> Verdict<'a> {
    fn read(output: &'a str) -> Result<Self> {
        let (failures, expected): (Vec<_>, Vec<_>) =
            output.lines().filter(|line| line.starts_with("FAIL ")).partition(|l| !needs_helm(l));
        let lines: Vec<_> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.last().ok_or("the runner printed nothing")?;
        let failed: usize = last
            .split_once(" passed, ")
            .and_then(|(_, rest)| rest.split_once(" failed")?.0.parse().ok())
            .ok_or_else(|| format!("the runner did not finish; its last line is `{last}`"))?;
        if failed > failures.len() + expected.len() {
            return Err(format!("{failed} cases failed, but not all are named").into());
        }
        let summary = lines[lines.len().saturating_sub(3)..].to_vec();
        Ok(Self { failures, summary })
    }
}

/// Cases that render charts: tagged with the feature, or named after the plugin.
fn needs_helm(line: &str) -> bool {
    let name = line.split_whitespace().nth(1).unwrap_or_default();
    let features = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    name.starts_with("plugin-helmchartinflationgen-")
        || features.is_some_and(|(features, _)| {
            features.split(',').any(|f| matches!(f, "helmCharts" | "helmChartInflationGenerator"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, failures: &[&str]) {
        assert_eq!(Verdict::read(output).expect("reads").failures, failures);
    }

    #[test]
    fn failures_of_chart_cases_are_expected() {
        check(
            "FAIL a [images,helmCharts]: exit status 1\n\
             FAIL plugin-helmchartinflationgen-b [generators]: exit status 1\n\
             FAIL c [images]: output differs\n\n5 passed, 3 failed\n",
            &["FAIL c [images]: output differs"],
        );
        check("5 passed, 0 failed\n", &[]);
    }

    #[test]
    fn an_unfinished_run_is_no_success() {
        assert!(Verdict::read("").is_err());
        assert!(Verdict::read("Traceback\n").is_err());
        assert!(Verdict::read("5 passed, 3 failed\n").is_err());
    }
}
