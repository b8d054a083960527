//! What was reconciled, newest first, in the shape of Flux's `status.history`.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{GoDuration, conditions::whole_seconds};

/// How many snapshots are kept.
const LONGEST: usize = 5;

/// Snapshots of what was reconciled, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct History(Vec<Snapshot>);

/// One state of the objects that was reconciled, once or often, with one outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Digest of the manifests.
    pub digest: String,
    /// When the first pass with this outcome ended.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::DateTime"))]
    pub first_reconciled: Timestamp,
    /// When the last pass with this outcome ended.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::DateTime"))]
    pub last_reconciled: Timestamp,
    /// How long the last pass took.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub last_reconciled_duration: GoDuration,
    /// The reason of the Ready condition, such as `ReconciliationSucceeded`.
    pub last_reconciled_status: String,
    /// How many passes had this outcome.
    pub total_reconciliations: i64,
    /// `revision`, and `originRevision` where there is one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// One pass over the objects.
#[derive(Clone, Debug)]
pub struct Pass {
    pub digest: String,
    pub status: String,
    pub finished: Timestamp,
    pub duration: Duration,
    pub metadata: BTreeMap<String, String>,
}

impl History {
    /// Counts a pass: as another one of the snapshot with its digest and status, which moves to the
    /// front, or as the first one of a new snapshot.
    pub fn record(&mut self, pass: Pass) {
        let finished = whole_seconds(pass.finished);
        let known = self.0.iter().position(|snapshot| {
            snapshot.digest == pass.digest && snapshot.last_reconciled_status == pass.status
        });
        let (first_reconciled, count) = match known.map(|index| self.0.remove(index)) {
            Some(former) => (former.first_reconciled, former.total_reconciliations),
            None => (finished, 0),
        };
        let snapshot = Snapshot {
            digest: pass.digest,
            first_reconciled,
            last_reconciled: finished,
            last_reconciled_duration: pass.duration.into(),
            last_reconciled_status: pass.status,
            total_reconciliations: count.saturating_add(1),
            metadata: pass.metadata,
        };
        self.0.insert(0, snapshot);
        self.0.truncate(LONGEST);
    }

    pub fn snapshots(&self) -> &[Snapshot] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60;

    fn pass(digest: &str, status: &str, minute: i64, duration: Duration, revision: &str) -> Pass {
        Pass {
            digest: digest.to_owned(),
            status: status.to_owned(),
            finished: Timestamp::from_second(minute * MINUTE).expect("a time"),
            duration,
            metadata: BTreeMap::from([("revision".to_owned(), revision.to_owned())]),
        }
    }

    /// Digest, status, first and last minute and count of each snapshot after passes of digest and
    /// status, a minute apart.
    #[track_caller]
    fn check(passes: &[(&str, &str)], expected: &[(&str, &str, i64, i64, i64)]) {
        let mut history = History::default();
        for (minute, (digest, status)) in (0..).zip(passes) {
            history.record(pass(digest, status, minute, Duration::from_secs(1), "r"));
        }
        let minute = |time: Timestamp| time.as_second() / MINUTE;
        let found: Vec<_> = history
            .snapshots()
            .iter()
            .map(|snapshot| {
                let (first, last) = (snapshot.first_reconciled, snapshot.last_reconciled);
                let status = snapshot.last_reconciled_status.as_str();
                let count = snapshot.total_reconciliations;
                (snapshot.digest.as_str(), status, minute(first), minute(last), count)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_digest_with_the_same_outcome_is_counted_and_comes_to_the_front() {
        check(&[("a", "ok"), ("a", "ok")], &[("a", "ok", 0, 1, 2)]);
        check(&[("a", "ok"), ("a", "bad")], &[("a", "bad", 1, 1, 1), ("a", "ok", 0, 0, 1)]);
        check(
            &[("a", "ok"), ("b", "ok"), ("a", "ok")],
            &[("a", "ok", 0, 2, 2), ("b", "ok", 1, 1, 1)],
        );
    }

    #[test]
    fn five_are_kept() {
        let passes = ["a", "b", "c", "d", "e", "a", "f"].map(|digest| (digest, "ok"));
        check(
            &passes,
            &[
                ("f", "ok", 6, 6, 1),
                ("a", "ok", 0, 5, 2),
                ("e", "ok", 4, 4, 1),
                ("d", "ok", 3, 3, 1),
                ("c", "ok", 2, 2, 1),
            ],
        );
    }

    #[test]
    fn it_is_written_and_read_as_a_status_has_it() {
        let mut history = History::default();
        history.record(pass("d", "ok", 0, Duration::from_millis(250), "r1"));
        let mut second = pass("d", "ok", 1, Duration::from_millis(61_500), "r2");
        second.finished += Duration::from_millis(700);
        history.record(second);
        let written = serde_json::to_value(&history).expect("JSON");
        let expected = serde_json::json!([{
            "digest": "d",
            "firstReconciled": "1970-01-01T00:00:00Z",
            "lastReconciled": "1970-01-01T00:01:00Z",
            "lastReconciledDuration": "1m1.5s",
            "lastReconciledStatus": "ok",
            "totalReconciliations": 2,
            "metadata": {"revision": "r2"},
        }]);
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<History>(written).expect("a history"), history);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the corpus lies on disk")]
    fn histories_are_those_of_the_reference() {
        let Some(shared) = flumen_testkit::shared_dir() else {
            flumen_testkit::skip("histories", "no shared corpus");
            return;
        };
        let cases =
            std::fs::read_to_string(shared.join("corpus/flux/inventory.jsonl")).expect("corpus");
        let start: Timestamp = "2025-01-01T00:00:00Z".parse().expect("a time");
        let mut checked = 0;
        for line in cases.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case");
            let Some(ops) = case["input"]["ops"].as_array() else { continue };
            let mut history = History::default();
            for (index, op) in (0..).zip(ops) {
                let text = |key: &str| op[key].as_str().expect("a text");
                let seconds = op["seconds"].as_f64().expect("a number");
                let duration = Duration::from_secs_f64(seconds);
                let mut pass = pass(text("digest"), text("status"), 0, duration, text("revision"));
                pass.finished = start + Duration::from_mins(1) * index;
                history.record(pass);
            }
            let found = serde_json::to_value(&history).expect("JSON");
            assert_eq!(found, case["expect"]["history"], "{}", case["id"]);
            checked += 1;
        }
        assert!(checked > 0, "the corpus has no such cases");
    }
}
