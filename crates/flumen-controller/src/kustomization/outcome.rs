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

/// What a pass that succeeded has come to.
pub(super) struct Success {
    pub(super) revision: String,
    origin_revision: Option<String>,
}

impl Success {
    pub(super) fn of(artifact: &Artifact) -> Self {
        Self {
            revision: artifact.revision.clone(),
            origin_revision: artifact.origin_revision().map(str::to_owned),
        }
    }
}

/// What a step says while it goes on.
pub(super) fn step_message(what: &str, revision: &str, object: &Kustomization) -> String {
    let timeout = GoDuration(object.spec.timeout());
    format!("{what} for revision {revision} with a timeout of {timeout}")
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
        Error::PruneFailed(_) => Failure::of_work("PruneFailed", text, retry),
        Error::PruneGuarded { .. } => {
            let annotation = finalize::ALLOW_LARGE_PRUNE;
            let message = format!(
                "{text}; annotate the Kustomization with {annotation} and the revision to allow it"
            );
            Failure::of_work("PruneGuarded", message, retry)
        }
        _ => {
            let mut message = format!("{text}\n{}", lines(changes.iter()));
            if !message.ends_with('\n') {
                message.push('\n');
            }
            Failure::of_work("ReconciliationFailed", message, retry)
        }
    }
}

pub(super) fn succeed(object: &mut Kustomization, success: &Success) {
    let now = Timestamp::now();
    object.status.last_applied_revision = Some(success.revision.clone());
    object.status.last_attempted_revision = Some(success.revision.clone());
    object.status.last_applied_origin_revision.clone_from(&success.origin_revision);
    let message = format!("Applied revision: {}", success.revision);
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
pub(super) fn record(object: &mut Kustomization, digest: String, took: Duration) {
    let reason = condition(object, READY).map(|ready| ready.reason.clone()).unwrap_or_default();
    let status = &object.status;
    let revision = status.last_attempted_revision.clone().map(|it| ("revision".to_owned(), it));
    let origin = (reason == SUCCEEDED).then(|| status.last_applied_origin_revision.clone());
    let origin = origin.flatten().map(|it| ("originRevision".to_owned(), it));
    let pass = flumen_api::Pass {
        digest,
        status: reason,
        finished: Timestamp::now(),
        duration: took,
        metadata: revision.into_iter().chain(origin).collect(),
    };
    object.status.history.record(pass);
}

/// What was written, a line for each object.
pub(super) fn lines<'c>(changes: impl Iterator<Item = &'c Change>) -> String {
    let lines = changes
        .filter(|change| change.is_write())
        .map(|change| format!("{} {}", change.id, change.action.as_str()));
    lines.collect::<Vec<_>>().join("\n")
}
