//! Whether a job is over, and how.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::{super::children::is_over, FAILURES, index_of};
use crate::{
    clock::seconds_later,
    object::{self, annotation, items, number, number_or, text, time},
};

/// How pods of a job ended so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) succeeded: usize,
    pub(super) failed: usize,
    pub(super) ending: usize,
    /// The indexes that are done.
    pub(super) indexes: BTreeSet<usize>,
    /// How often pods of an index have failed, in jobs that limit that.
    pub(super) failures: BTreeMap<usize, usize>,
    /// The indexes that have failed too often.
    pub(super) failed_indexes: BTreeSet<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Complete,
    Failed { reason: &'static str, message: &'static str },
}

/// How long to wait after the first failure, and at most.
const FIRST_RETRY: i64 = 10;
const LAST_RETRY: i64 = 600;

impl Counts {
    /// What was counted before is never uncounted.
    pub(super) fn of(job: &Value, pods: &[&Value]) -> Self {
        let in_phase = |phase: &'static str| {
            pods.iter().filter(move |pod| text(pod, "/status/phase") == phase)
        };
        let known = |name: &str| usize::try_from(number(job, name)).unwrap_or_default();
        let mut indexes = read_ranges(text(job, "/status/completedIndexes"));
        indexes.extend(in_phase("Succeeded").filter_map(|pod| index_of(pod)));
        let succeeded =
            if indexes.is_empty() { in_phase("Succeeded").count() } else { indexes.len() };
        let mut failures = BTreeMap::new();
        let mut failed_indexes = read_ranges(text(job, "/status/failedIndexes"));
        if let Some(limit) = limit_per_index(job) {
            for pod in in_phase("Failed") {
                let Some(index) = index_of(pod) else { continue };
                // Pods may be gone; the next one remembers how many.
                let before = annotation(pod, FAILURES).and_then(|count| count.parse().ok());
                let count = before.unwrap_or(0_usize).saturating_add(1);
                let known = failures.entry(index).or_insert(0);
                *known = count.max(*known);
            }
            let too_often = failures.iter().filter(|(_, count)| **count > limit);
            failed_indexes.extend(too_often.map(|(index, _)| *index));
        }
        Self {
            succeeded: succeeded.max(known("/status/succeeded")),
            failed: in_phase("Failed").count().max(known("/status/failed")),
            ending: pods.iter().filter(|pod| object::is_ending(pod) && !is_over(pod)).count(),
            indexes,
            failures,
            failed_indexes,
        }
    }
}

/// How often pods of one index may fail, if that is counted for each.
pub(super) fn limit_per_index(job: &Value) -> Option<usize> {
    let limit = job.pointer("/spec/backoffLimitPerIndex")?.as_i64()?;
    Some(usize::try_from(limit).unwrap_or_default())
}

pub(super) fn deadline(job: &Value, started: Option<Timestamp>) -> Option<Timestamp> {
    let seconds = job.pointer("/spec/activeDeadlineSeconds")?.as_i64()?;
    Some(seconds_later(started?, seconds))
}

pub(super) fn of(
    job: &Value,
    counts: &Counts,
    pods: &[&Value],
    started: Option<Timestamp>,
    now: Timestamp,
) -> Option<Outcome> {
    started?;
    let limit = number_or(job, "/spec/backoffLimit", 6);
    let limit = usize::try_from(limit).unwrap_or_default();
    let restarts: i64 = pods
        .iter()
        .filter(|pod| text(pod, "/spec/restartPolicy") == "OnFailure")
        .flat_map(|pod| items(pod, "/status/containerStatuses"))
        .map(|status| number(status, "/restartCount"))
        .sum();
    if counts.failed > limit || usize::try_from(restarts).is_ok_and(|n| n > 0 && n > limit) {
        return Some(Outcome::Failed {
            reason: "BackoffLimitExceeded",
            message: "Job has reached the specified backoff limit",
        });
    }
    if deadline(job, started).is_some_and(|deadline| deadline <= now) {
        return Some(Outcome::Failed {
            reason: "DeadlineExceeded",
            message: "Job was active longer than specified deadline",
        });
    }
    let completions = job.pointer("/spec/completions").and_then(Value::as_i64);
    if let Some(failed) = failed_indexes(job, counts, completions) {
        return Some(failed);
    }
    let is_complete = if let Some(all) = completions {
        counts.succeeded >= usize::try_from(all).unwrap_or_default()
    } else {
        counts.succeeded > 0 && !pods.iter().any(|pod| super::is_active(pod))
    };
    is_complete.then_some(Outcome::Complete)
}

/// Whether too many indexes have failed, or some have and all others are done.
fn failed_indexes(job: &Value, counts: &Counts, completions: Option<i64>) -> Option<Outcome> {
    let failed = counts.failed_indexes.len();
    let most = job.pointer("/spec/maxFailedIndexes").and_then(Value::as_i64);
    if most.is_some_and(|most| usize::try_from(most).is_ok_and(|most| failed > most)) {
        return Some(Outcome::Failed {
            reason: "MaxFailedIndexesExceeded",
            message: "Job has exceeded the specified maximal number of failed indexes",
        });
    }
    let all = usize::try_from(completions?).unwrap_or_default();
    (failed > 0 && failed + counts.indexes.len() >= all)
        .then_some(Outcome::Failed { reason: "FailedIndexes", message: "Job has failed indexes" })
}

/// When the next pod may begin after failures, each time twice as long.
pub(super) fn retry_at(pods: &[&Value], failed: usize) -> Option<Timestamp> {
    let ends = pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed");
    let ends = ends.flat_map(|pod| items(pod, "/status/containerStatuses"));
    let last = ends.filter_map(|status| time(status, "/state/terminated/finishedAt")).max()?;
    let doublings = u32::try_from(failed.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    Some(seconds_later(last, (FIRST_RETRY << doublings).min(LAST_RETRY)))
}

/// Numbers as `0-2,4`.
pub(super) fn ranges(numbers: &BTreeSet<usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == *number => *end = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let texts = ranges.iter().map(|(start, end)| match end - start {
        0 => start.to_string(),
        1 => format!("{start},{end}"),
        _ => format!("{start}-{end}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn read_ranges(text: &str) -> BTreeSet<usize> {
    text.split(',')
        .filter_map(|part| {
            let (start, end) = part.split_once('-').unwrap_or((part, part));
            Some(start.parse::<usize>().ok()?..=end.parse().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_printed_as_ranges() {
        for (numbers, text) in [
            (vec![], ""),
            (vec![0], "0"),
            (vec![0, 1], "0,1"),
            (vec![0, 1, 2, 4, 7, 8, 9], "0-2,4,7-9"),
        ] {
            let numbers: BTreeSet<usize> = numbers.into_iter().collect();
            assert_eq!(ranges(&numbers), text);
            assert_eq!(read_ranges(text), numbers);
        }
    }

    #[test]
    fn each_failure_doubles_the_wait() {
        let pod = serde_json::json!({"status": {
            "phase": "Failed",
            "containerStatuses": [{"state": {"terminated": {"finishedAt": "1970-01-01T00:00:00Z"}}}],
        }});
        for (failed, seconds) in [(1, 10), (2, 20), (3, 40), (30, 600)] {
            assert_eq!(retry_at(&[&pod], failed).map(Timestamp::as_second), Some(seconds));
        }
        assert_eq!(retry_at(&[], 0), None);
    }
}
