//! Jobs, about which the libraries and Flux disagree.

use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{Error, Health, facts::Facts, fields::is_true_at};

/// How healthy a Job is to those who wait for its end: one that runs is in progress, and one that is
/// suspended holds nobody up. The rules for every object are not asked.
pub fn assess_job(object: &Node, now: Timestamp) -> Result<Health, Error> {
    if is_suspended(object) {
        return Ok(suspended());
    }
    let facts = Facts::of(object, now)?;
    let counts = Counts::of(&facts);
    Ok(
        match facts
            .conditions
            .iter()
            .find_map(|condition| counts.ended(&condition.kind, &condition.status))
        {
            Some(health) => health,
            None if counts.started => Health::in_progress("JobInProgress", counts.progress()),
            None => {
                let message = format!("Job not started. active: 0/{}", counts.parallelism);
                Health::in_progress("JobNotStarted", message)
            }
        },
    )
}

/// The rule of the libraries, to which a Job is in order once it runs.
pub(crate) fn job(facts: &Facts<'_>) -> Health {
    let counts = Counts::of(facts);
    let ended = facts
        .conditions
        .iter()
        .find_map(|condition| counts.ended(&condition.kind, &condition.status));
    match ended {
        Some(health) => health,
        None if counts.started => Health::current(counts.progress()),
        None => Health::in_progress("JobNotStarted", "Job not started"),
    }
}

fn is_suspended(object: &Node) -> bool {
    is_true_at(object, &["spec", "suspend"])
}

fn suspended() -> Health {
    Health::current("Job is suspended")
}

struct Counts {
    parallelism: i64,
    completions: i64,
    succeeded: i64,
    active: i64,
    failed: i64,
    started: bool,
}

impl Counts {
    fn of(facts: &Facts<'_>) -> Self {
        let parallelism = facts.int(&["spec", "parallelism"], 1);
        Self {
            parallelism,
            completions: facts.int(&["spec", "completions"], parallelism),
            succeeded: facts.count("succeeded"),
            active: facts.count("active"),
            failed: facts.count("failed"),
            started: facts.text(&["status", "startTime"]).is_some_and(|time| !time.is_empty()),
        }
    }

    /// What a condition says about the end of the Job.
    fn ended(&self, kind: &str, status: &str) -> Option<Health> {
        let of = self.completions;
        match (kind, status) {
            ("Complete", "True") => {
                let message = format!("Job Completed. succeeded: {}/{of}", self.succeeded);
                Some(Health::current(message))
            }
            ("Failed", "True") => {
                let message = format!("Job Failed. failed: {}/{of}", self.failed);
                Some(Health::failed("JobFailed", message))
            }
            _ => None,
        }
    }

    fn progress(&self) -> String {
        let Self { succeeded, active, failed, .. } = self;
        format!("Job in progress. success:{succeeded}, active: {active}, failed: {failed}")
    }
}
