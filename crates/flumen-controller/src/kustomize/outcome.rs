//! The end of a reconciliation in the status: conditions, revisions, history.

use std::time::Duration;

use flumen_api::{
    Artifact, ConditionStatus, GoDuration, Kustomization, READY, RECONCILING, Reconciled as _,
    STALLED, condition, delete_condition, mark_reconciling, mark_stalled, set_condition,
};
use flumen_apply::Change;
use flumen_runtime::{Class, Done, Failure, Severity};
use jiff::Timestamp;

use super::{finalize, reconciler::Run};

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

/// Returns the message of a running step.
pub(super) fn step_message(what: &str, revision: &str, object: &Kustomization) -> String {
    let timeout = GoDuration(object.spec.timeout());
    format!("{what} for revision {revision} with a timeout of {timeout}")
}

/// Returns the message of a successful reconciliation.
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
            Failure::retried("PruneFailed", message, retry)
        }
        Error::PruneGuarded { .. } => {
            let annotation = finalize::ALLOW_LARGE_PRUNE;
            let message = format!(
                "{text}; annotate the Kustomization with {annotation} and the revision to allow it"
            );
            Failure::retried("PruneGuarded", message, retry)
        }
        _ => {
            let mut message = format!("{text}\n{}", lines_of_writes(changes));
            if !message.ends_with('\n') {
                message.push('\n');
            }
            Failure::retried("ReconciliationFailed", message, retry)
        }
    }
}

/// Completes the status with the outcome.
pub(super) fn complete(run: &Run<'_>, outcome: &Result<Done, Failure>) {
    let (now, took) = (run.runtime().clock.now(), run.elapsed());
    let (revision, digest) = {
        let notes = run.notes();
        (notes.revision.clone(), notes.build_digest.clone())
    };
    run.with(|object| {
        match (outcome, &revision) {
            (Ok(_), Some(revision)) => succeed(object, revision, now),
            (Ok(_), None) => {}
            (Err(failure), _) => fail(object, failure, now),
        }
        if let (Some(revision), Some(digest)) = (revision, digest) {
            record(object, &revision, digest, took, now);
        }
    });
}

/// Posts and logs the outcome.
pub(super) fn announce(run: &Run<'_>, outcome: &Result<Done, Failure>) {
    let revision = run.notes().revision.clone();
    let mut facts = revision.as_ref().map(Revision::metadata).unwrap_or_default();
    match outcome {
        Ok(done) => {
            let took = GoDuration(run.elapsed());
            let name = revision.as_ref().map_or("", |revision| &revision.name);
            tracing::info!(object = %run.key(), revision = name, %took, "applied");
            facts.push(("commit_status", "update"));
            let message = finished(took.0, GoDuration(done.interval));
            run.post(Severity::Info, SUCCEEDED, &message, &facts);
        }
        Err(Failure { reason, message, event, .. }) => {
            tracing::error!(object = %run.key(), reason, error = %message, "failed");
            if let Some((severity, message)) = event {
                run.post(*severity, reason, message, &facts);
            }
        }
    }
}

fn succeed(object: &mut Kustomization, revision: &Revision, now: Timestamp) {
    object.status.last_applied_revision = Some(revision.name.clone());
    object.status.last_attempted_revision = Some(revision.name.clone());
    object.status.last_applied_origin_revision.clone_from(&revision.origin);
    let message = format!("Applied revision: {}", revision.name);
    delete_condition(object, RECONCILING);
    delete_condition(object, STALLED);
    set_condition(object, READY, ConditionStatus::True, SUCCEEDED, &message, now);
    object.observe_generation();
}

fn fail(object: &mut Kustomization, failure: &Failure, now: Timestamp) {
    let (reason, message) = (failure.reason, &*failure.message);
    match failure.class {
        Class::Stalled => {
            mark_stalled(object, reason, message, now);
            if reason == INVALID_CEL {
                object.observe_generation();
            }
        }
        Class::Retried => {
            let step = condition(object, RECONCILING).map(|step| step.message.clone());
            mark_reconciling(object, RETRYING, &step.unwrap_or_default(), now);
        }
        Class::Waiting(_) => {
            delete_condition(object, RECONCILING);
            delete_condition(object, STALLED);
        }
    }
    set_condition(object, READY, ConditionStatus::False, reason, message, now);
}

/// Completes the status of a Kustomization that was not reconciled.
pub(super) fn close(object: &mut Kustomization, now: Timestamp) {
    object.handle_request();
    let ready = condition(object, READY).map(|ready| ready.status);
    match (ready, condition(object, RECONCILING).map(|step| step.message.clone())) {
        (Some(ConditionStatus::True), _) => {
            delete_condition(object, RECONCILING);
            object.observe_generation();
        }
        (Some(ConditionStatus::False), Some(step)) => {
            mark_reconciling(object, RETRYING, &step, now);
        }
        _ => {}
    }
}

/// Adds the reconciliation to the history.
fn record(
    object: &mut Kustomization,
    revision: &Revision,
    digest: String,
    took: Duration,
    now: Timestamp,
) {
    let reason = condition(object, READY).map(|ready| ready.reason.clone()).unwrap_or_default();
    let metadata = revision.metadata().into_iter();
    let pass = flumen_api::Pass {
        digest,
        status: reason,
        finished: now,
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
