//! What the output of a runner means.

use super::known::known;
use crate::{Result, progress::Log};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict<'a> {
    /// `FAIL` lines that count.
    pub(super) failures: Vec<&'a str>,
    /// Those that do not, and why, except those of charts.
    excused: Vec<(&'a str, &'static str)>,
    /// The closing lines.
    summary: Vec<&'a str>,
}

impl<'a> Verdict<'a> {
    pub(super) fn read(output: &'a str, lost_links: impl Fn(&str) -> bool) -> Result<Self> {
        let (charts, others): (Vec<_>, Vec<_>) =
            output.lines().filter(|line| line.starts_with("FAIL ")).partition(|l| needs_helm(l));
        let (mut failures, mut excused) = (Vec::new(), Vec::new());
        for line in others {
            if lost_links(case_name(line)) {
                excused.push((line, "its symbolic links are plain files in this copy"));
            } else if let Some(why) = known(case_name(line)) {
                excused.push((line, why));
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

    pub(super) fn report(&self, log: &mut Log) {
        for line in &self.failures {
            log.line(line);
        }
        for (line, why) in &self.excused {
            log.line(format_args!("not counted, {why}: {line}"));
        }
        for line in &self.summary {
            log.line(line);
        }
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

pub(super) fn case_name(line: &str) -> &str {
    line.split_whitespace().nth(1).unwrap_or_default().trim_end_matches(':')
}

/// The runner of hostile input closes a line with the memory used and what is wrong.
fn is_only_late(line: &str) -> bool {
    line.rsplit_once(" MB  ").is_some_and(|(_, reasons)| reasons.trim() == "slow")
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
    fn known_differences_are_excused_however_a_runner_names_the_case() {
        let output = "FAIL depends-cycle (13.2 s): another message\n\
             FAIL pull-artifact-no-output: pull artifact\n  exit: expected 1, got 0\n\
             FAIL depends-cycle-2 (1.0 s): another message\n2 passed, 3 failed\n";
        check(output, &["FAIL depends-cycle-2 (1.0 s): another message"]);
        let verdict = Verdict::read(output, |_| false).expect("reads");
        let excused: Vec<&str> = verdict.excused.iter().map(|(line, _)| case_name(line)).collect();
        assert_eq!(excused, ["depends-cycle", "pull-artifact-no-output"]);
    }

    #[test]
    fn an_unfinished_run_is_no_success() {
        assert!(Verdict::read("", |_| false).is_err());
        assert!(Verdict::read("Traceback\n", |_| false).is_err());
        assert!(Verdict::read("5 passed, 3 failed\n", |_| false).is_err());
    }
}
