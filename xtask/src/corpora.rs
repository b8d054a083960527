//! The larger corpora that some checkouts have beside them, run against the release binary.
//!
//! Each corpus brings its own runner, a Python script that prints `FAIL name …` for a failing case
//! (kustomize's with the features of the case in brackets) and closes with `N passed, M failed`.
//!
//! Some failures are named and not counted: charts are not rendered yet; a copy without symbolic links
//! cannot show what links do; a case that is only late says more about the machine than about the code;
//! and there are [`KNOWN`] ones.

mod served;

use std::{path::Path, process::Command};

use served::Served;

use crate::{Result, process::capture, progress::say};

#[derive(Debug)]
pub(crate) struct Corpus {
    pub(crate) title: &'static str,
    /// The runner and its arguments; `{flumen}` stands for the binary, `{shared}` for the
    /// directory of the corpora. Other names in braces are the runner's own.
    command: &'static [&'static str],
    /// Where its cases are, if they are files, relative to the directory of the corpora.
    cases: Option<&'static str>,
    /// The options of the API server that the runner talks to, if it talks to one.
    server: Option<&'static [&'static str]>,
}

pub(crate) const ALL: [Corpus; 7] = [
    Corpus {
        title: "corpus: kustomize",
        command: &["{shared}/corpus/run-kustomize", "--cmd", "{flumen} build", "-j", "2"],
        cases: Some("corpus/kustomize"),
        server: None,
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
        cases: Some("corpus/kustomize-skew"),
        server: None,
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
        cases: None,
        server: None,
    },
    Corpus {
        title: "corpus: hostile artifacts, registries and layouts",
        command: &[
            "{shared}/corpus/hostile/run",
            "--cmd-pull",
            "{flumen} pull artifact --insecure-registry {url} -o {dir}",
            "--cmd-push",
            "{flumen} push artifact --insecure-registry {url} -k {path}",
            "--cmd-layout",
            "{flumen} copy artifact oci-layout:{layout} oci-layout:{dir}",
            "--family",
            "artifact",
            "-v",
        ],
        cases: None,
        server: None,
    },
    Corpus {
        title: "corpus: Kubernetes API",
        command: &["{shared}/corpus/kubernetes/replay"],
        cases: None,
        server: Some(&["--controllers", "none"]),
    },
    Corpus {
        title: "corpus: Kubernetes API with controllers",
        command: &["{shared}/corpus/kubernetes/replay", "--mode", "controllers"],
        cases: None,
        server: Some(&["--controllers", "core"]),
    },
    Corpus {
        title: "corpus: Kubernetes API after compaction",
        command: &["{shared}/corpus/kubernetes/replay", "--mode", "compacted"],
        cases: None,
        server: Some(&["--controllers", "none", "--compact-at", "1"]),
    },
];

/// Cases in which we differ on purpose, and why.
const KNOWN: [(&str, &str); 1] = [(
    "objects/controller-revision:",
    "the real server compares the data of revisions by its bytes, spaces included, and so refuses any patch",
)];

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
        let served = self.server.map(|options| Served::start(binary, options)).transpose()?;
        if let Some(served) = &served {
            command.args(served.arguments());
        }
        let output = capture(&mut command)?;
        let cases = self.cases.map(|cases| shared.join(cases));
        let lost_links = |name: &str| {
            cases.as_ref().is_some_and(|cases| has_lost_links(&cases.join(name).join("input")))
        };
        let verdict = Verdict::read(&output, lost_links)?;
        for line in &verdict.failures {
            say(&format!("    {line}"));
        }
        for (line, why) in &verdict.excused {
            say(&format!("    not counted, {why}: {line}"));
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
    /// `FAIL` lines that count.
    failures: Vec<&'a str>,
    /// Those that do not, and why, except those of charts.
    excused: Vec<(&'a str, &'static str)>,
    /// The closing lines.
    summary: Vec<&'a str>,
}

impl<'a> Verdict<'a> {
    fn read(output: &'a str, lost_links: impl Fn(&str) -> bool) -> Result<Self> {
        let (charts, others): (Vec<_>, Vec<_>) =
            output.lines().filter(|line| line.starts_with("FAIL ")).partition(|l| needs_helm(l));
        let (mut failures, mut excused) = (Vec::new(), Vec::new());
        for line in others {
            if lost_links(case_name(line)) {
                excused.push((line, "its symbolic links are plain files in this copy"));
            } else if let Some((_, why)) = KNOWN.iter().find(|(name, _)| *name == case_name(line)) {
                excused.push((line, *why));
            } else if is_only_late(line) {
                excused.push((line, "it was only late"));
            } else {
                failures.push(line);
            }
        }
        let lines: Vec<_> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.last().ok_or("the runner printed nothing")?;
        let failed: usize = last
            .split_once(" passed, ")
            .and_then(|(_, rest)| rest.split_once(" failed")?.0.parse().ok())
            .ok_or_else(|| format!("the runner did not finish; its last line is `{last}`"))?;
        if failed > failures.len() + excused.len() + charts.len() {
            return Err(format!("{failed} cases failed, but not all are named").into());
        }
        let summary = lines[lines.len().saturating_sub(3)..].to_vec();
        Ok(Self { failures, excused, summary })
    }
}

/// Cases that render charts: tagged with the feature, or named after the plugin.
fn needs_helm(line: &str) -> bool {
    let name = case_name(line);
    let features = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    name.starts_with("plugin-helmchartinflationgen-")
        || features.is_some_and(|(features, _)| {
            features.split(',').any(|f| matches!(f, "helmCharts" | "helmChartInflationGenerator"))
        })
}

fn case_name(line: &str) -> &str {
    line.split_whitespace().nth(1).unwrap_or_default()
}

/// The runner of hostile input closes a line with the memory used and what is wrong.
fn is_only_late(line: &str) -> bool {
    line.rsplit_once(" MB  ").is_some_and(|(_, reasons)| reasons.trim() == "slow")
}

/// Whether a tree has a file that holds nothing but the path of another: what becomes of a symbolic
/// link where links are not kept.
fn has_lost_links(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_lost_links(&path);
        }
        let Ok(content) = std::fs::read_to_string(&path) else { return false };
        !content.is_empty()
            && !content.contains(['\n', ':'])
            && path.parent().is_some_and(|parent| parent.join(&content).exists())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, failures: &[&str]) {
        assert_eq!(
            Verdict::read(output, |name| name == "linked").expect("reads").failures,
            failures
        );
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
    fn lost_links_and_lateness_are_excused() {
        check(
            "FAIL linked [overlay]: exit status 1\n\
             FAIL heavy refused 2.50 s 20 MB  slow\n\
             FAIL fat refused 2.50 s 300 MB  slow, fat\n\n5 passed, 3 failed\n",
            &["FAIL fat refused 2.50 s 300 MB  slow, fat"],
        );
    }

    #[test]
    fn an_unfinished_run_is_no_success() {
        assert!(Verdict::read("", |_| false).is_err());
        assert!(Verdict::read("Traceback\n", |_| false).is_err());
        assert!(Verdict::read("5 passed, 3 failed\n", |_| false).is_err());
    }
}
