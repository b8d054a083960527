//! What a pass says in the end: conditions, revisions, history.

use std::time::Duration;

use flumen_api::{
    Artifact, ConditionStatus, GoDuration, Kustomization, READY, RECONCILING, STALLED, condition,
    delete_condition, mark_reconciling, mark_stalled, set_condition,
};
use flumen_apply::Change;
use jiff::Timestamp;

use super::{failure::Failure, finalize};
use crate::status::requested_at;

pub(super) const PROGRESSING: &str = "Progressing";
const RETRYING: &str = "ProgressingWithRetry";
/// The reason of expressions that cannot be used.
pub(super) const INVALID_CEL: &str = "InvalidCELExpression";
pub(super) const SUCCEEDED: &str = "ReconciliationSucceeded";

/// What is built, in the words of its source.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    pub(super) name: String,
    /// What the source was made from.
    origin: Option<String>,
}

impl Revision {
    pub(super) fn of(artifact: &Artifact) -> Self {
        Self {
            name: artifact.revision.clone(),
            origin: artifact.origin_revision().map(str::to_owned),
        }
    }

    /// What was last applied, if anything.
    pub(super) fn last_applied(object: &Kustomization) -> Option<Self> {
        let status = &object.status;
        let name = status.last_applied_revision.clone()?;
        Some(Self { name, origin: status.last_applied_origin_revision.clone() })
    }

    /// What events and the history say of it.
    pub(super) fn metadata(&self) -> Vec<(&'static str, &str)> {
        let origin = self.origin.as_deref().map(|origin| ("originRevision", origin));
        [("revision", self.name.as_str())].into_iter().chain(origin).collect()
    }
}

/// What a step says while it goes on.
pub(super) fn step_message(what: &str, revision: &str, object: &Kustomization) -> String {
    let timeout = GoDuration(object.spec.timeout());
    format!("{what} for revision {revision} with a timeout of {timeout}")
}

/// What is said of a pass that succeeded.
pub(super) fn finished(took: Duration, interval: GoDuration) -> String {
    format!("Reconciliation finished in {}, next run in {interval}", GoDuration(took))
}

/// What is said of an apply that failed: why, in the words of `text`, and what had changed by then.
pub(super) fn apply_failure(
    error: &flumen_apply::Error,
    text: &str,
    changes: &[Change],
    retry: Duration,
) -> Failure {
    use flumen_apply::Error;
    match error {
        Error::PruneFailed(errors) => {
            let errors: Vec<String> = errors.iter().map(|error| format!("{error};")).collect();
            let message = format!("delete failed, errors: {}", errors.concat());
            Failure::of_work("PruneFailed", message, retry)
        }
        Error::PruneGuarded { .. } => {
            let annotation = finalize::ALLOW_LARGE_PRUNE;
            let message = format!(
                "{text}; annotate the Kustomization with {annotation} and the revision to allow it"
            );
            Failure::of_work("PruneGuarded", message, retry)
        }
        _ => {
            let mut message = format!("{text}\n{}", lines_of_writes(changes));
            if !message.ends_with('\n') {
                message.push('\n');
            }
            Failure::of_work("ReconciliationFailed", message, retry)
        }
    }
}

pub(super) fn succeed(object: &mut Kustomization, revision: &Revision) {
    let now = Timestamp::now();
    object.status.last_applied_revision = Some(revision.name.clone());
    object.status.last_attempted_revision = Some(revision.name.clone());
    object.status.last_applied_origin_revision.clone_from(&revision.origin);
    let message = format!("Applied revision: {}", revision.name);
    delete_condition(object, RECONCILING);
    delete_condition(object, STALLED);
    set_condition(object, READY, ConditionStatus::True, SUCCEEDED, &message, now);
    object.status.observed_generation = object.metadata.generation;
}

pub(super) fn fail(object: &mut Kustomization, failure: &Failure) {
    let now = Timestamp::now();
    let (reason, message) = (failure.reason, failure.message.as_str());
    if failure.is_terminal {
        mark_stalled(object, reason, message, now);
        if reason == INVALID_CEL {
            object.status.observed_generation = object.metadata.generation;
        }
    } else if failure.is_retried {
        let step = condition(object, RECONCILING).map(|step| step.message.clone());
        mark_reconciling(object, RETRYING, &step.unwrap_or_default(), now);
    } else {
        delete_condition(object, RECONCILING);
        delete_condition(object, STALLED);
    }
    set_condition(object, READY, ConditionStatus::False, reason, message, now);
}

/// What holds at the end of every pass, also of one that did nothing.
pub(super) fn close(object: &mut Kustomization) {
    handle_request(object);
    let ready = condition(object, READY).map(|ready| ready.status);
    match (ready, condition(object, RECONCILING).map(|step| step.message.clone())) {
        (Some(ConditionStatus::True), _) => {
            delete_condition(object, RECONCILING);
            object.status.observed_generation = object.metadata.generation;
        }
        (Some(ConditionStatus::False), Some(step)) => {
            mark_reconciling(object, RETRYING, &step, Timestamp::now());
        }
        _ => {}
    }
}

/// Marks the request of a user as answered.
pub(super) fn handle_request(object: &mut Kustomization) {
    if let Some(requested) = requested_at(object).cloned() {
        object.status.last_handled_reconcile_at = Some(requested);
    }
}

/// Counts the pass in the history.
pub(super) fn record(
    object: &mut Kustomization,
    revision: &Revision,
    digest: String,
    took: Duration,
) {
    let reason = condition(object, READY).map(|ready| ready.reason.clone()).unwrap_or_default();
    let metadata = revision.metadata().into_iter();
    let pass = flumen_api::Pass {
        digest,
        status: reason,
        finished: Timestamp::now(),
        duration: took,
        metadata: metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    };
    object.status.history.record(pass);
}

/// What was written, a line for each object.
pub(super) fn lines_of_writes(changes: &[Change]) -> String {
    lines(changes.iter().filter(|change| change.is_write()))
}

/// What happened, a line for each object.
pub(super) fn lines<'c>(changes: impl IntoIterator<Item = &'c Change>) -> String {
    let line = |change: &Change| format!("{} {}", change.id, change.action.as_str());
    changes.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
