//! The reconciliation of a source, the same for all kinds: the stored artifact is verified, the remote is asked for its
//! revision, and only a new one is fetched.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use flumen_api::{
    Artifact, ConditionStatus, READY, RECONCILING, Reconciled, STALLED, condition,
    delete_condition, mark_reconciling, mark_stalled, set_condition,
};
use flumen_runtime::{
    Class, Done, Failure, Finalized, KindInfo, Reconciler, Reconciliation, Requeue, Severity,
};
use flumen_source::{Owner, StorageError, Unverified};
use jiff::Timestamp;

use super::{Sources, local};

const PROGRESSING: &str = "Progressing";
/// Start of the steps that end in a new artifact.
pub(super) const BUILDING: &str = "building artifact";
const COLLECTED: &str = "GarbageCollectionSucceeded";
const IN_STORAGE: &str = "ArtifactInStorage";
pub(super) const VERIFIED: &str = "SourceVerified";
pub(super) const OUTDATED: &str = "ArtifactOutdated";
pub(super) const FETCH_FAILED: &str = "FetchFailed";
pub(super) const STORAGE_FAILED: &str = "StorageOperationFailed";
pub(super) const SUCCEEDED: &str = "Succeeded";
pub(super) const INCLUDE_UNAVAILABLE: &str = "IncludeUnavailable";
/// Conditions that report failures; a success removes them.
const FAILURES: [&str; 3] = [FETCH_FAILED, STORAGE_FAILED, INCLUDE_UNAVAILABLE];

/// A kind of source.
pub(crate) trait Source: Reconciled {
    fn artifact(&self) -> Option<&Artifact>;
    fn set_artifact(&mut self, artifact: Option<Artifact>);
    fn interval(&self) -> Duration;
    /// Returns the patterns of files that stay out of the artifact.
    fn ignore(&self) -> Option<&str>;

    /// Asks the remote, and fetches and stores what is new. May note facts in the status, and with `step` what it is
    /// about to do.
    fn produce(
        &mut self,
        sources: &Sources,
        step: &Step<'_, Self>,
    ) -> impl Future<Output = Result<Produced, Failure>>;
}

/// What a reconciliation is about to do, and the object as it was before: that is shown if it takes long.
pub(crate) struct Step<'r, S>(&'r Reconciliation<'r, S, String>);

impl<S: Source> Step<'_, S> {
    /// Sets the text of the step.
    pub(super) fn set(&self, text: String) {
        let now = self.now();
        self.0.with(|object| {
            mark_reconciling(object, PROGRESSING, &text, now);
            if object.artifact().is_none() || text.starts_with(BUILDING) {
                let unknown = ConditionStatus::Unknown;
                set_condition(object, READY, unknown, PROGRESSING, &text, now);
            }
        });
        *self.0.notes() = text;
    }

    pub(super) fn now(&self) -> Timestamp {
        self.0.runtime().clock.now()
    }

    /// Posts an event about the object.
    pub(super) fn post(&self, severity: Severity, reason: &str, message: &str) {
        self.0.post(severity, reason, message, &[]);
    }
}

/// The answer of a remote.
#[derive(Debug)]
pub(crate) enum Produced {
    /// The stored artifact is current.
    Unchanged {
        /// Reason and message of the event.
        reason: &'static str,
        note: String,
        /// Message of the event after a failure.
        news: String,
    },
    New {
        artifact: Artifact,
        /// Message of the event.
        news: String,
    },
}

/// Reconciles sources of one kind.
pub(crate) struct SourceReconciler<S> {
    info: &'static KindInfo,
    sources: Arc<Sources>,
    kind: PhantomData<fn() -> S>,
}

impl<S> SourceReconciler<S> {
    pub(crate) fn new(info: &'static KindInfo, sources: &Arc<Sources>) -> Self {
        Self { info, sources: sources.clone(), kind: PhantomData }
    }
}

/// One reconciliation of a source. Its notes are the step.
type Run<'r, S> = Reconciliation<'r, S, String>;

impl<S: Source> Reconciler for SourceReconciler<S> {
    type Object = S;
    type Notes = String;

    fn kind(&self) -> &'static KindInfo {
        self.info
    }

    async fn reconcile(&self, run: &Run<'_, S>) -> Result<Done, Failure> {
        let sources = self.sources.as_ref();
        let known = run.written();
        let mut object = run.object();
        let step = Step(run);
        step.set(check_storage(sources, run, &mut object).await);
        let produced = match sources.directories.get(run.key()) {
            Some(local) => local::produce(&object, sources, local.clone(), &step).await,
            None => object.produce(sources, &step).await,
        };
        let now = step.now();
        let has_recovered = FAILURES.iter().any(|failure| is_true(known.as_ref(), failure));
        if let Ok(Produced::New { artifact, .. }) = &produced {
            object.set_artifact(Some(artifact.clone()));
        }
        if produced.is_ok() {
            succeed(&mut object, now);
        }
        let interval = object.interval();
        let facts: Vec<(&str, String)> = about(&object);
        let facts: Vec<(&str, &str)> =
            facts.iter().map(|(key, value)| (*key, value.as_str())).collect();
        // What was shown meanwhile is not part of the outcome.
        run.with(|shown| *shown = object);
        match produced? {
            Produced::Unchanged { reason, note, news } => {
                run.post(Severity::Info, reason, &note, &[]);
                if has_recovered {
                    run.post(Severity::Info, SUCCEEDED, &news, &facts);
                }
            }
            Produced::New { artifact, news } => {
                let is_new = known.artifact().is_none_or(|old| old.digest != artifact.digest);
                if is_new {
                    run.post(Severity::Info, "NewArtifact", &news, &facts);
                } else if has_recovered {
                    run.post(Severity::Info, SUCCEEDED, &news, &facts);
                }
            }
        }
        Ok(Done { interval })
    }

    fn complete(&self, run: &Run<'_, S>, outcome: &Result<Done, Failure>) {
        let Err(failure) = outcome else { return };
        let Failure { reason, message, class, .. } = failure;
        let severity = if matches!(class, Class::Waiting(_)) {
            tracing::info!(object = %run.key(), reason, why = %message, "waits");
            Severity::Info
        } else {
            tracing::error!(object = %run.key(), reason, error = %message, "failed");
            Severity::Error
        };
        let (now, step) = (run.runtime().clock.now(), run.notes().clone());
        run.with(|object| fail(object, failure, &step, now));
        run.post(severity, reason, message, &[]);
    }

    fn complete_suspended(&self, object: &mut S) {
        // The conditions hold for this spec, too.
        if let Some(ready) = condition(object, READY).cloned() {
            let now = self.sources.runtime.clock.now();
            set_condition(object, READY, ready.status, &ready.reason, &ready.message, now);
        }
        object.observe_generation();
        object.handle_request();
    }

    async fn finalize(&self, run: &Run<'_, S>) -> Finalized {
        let object = run.written();
        let artifacts = &self.sources.artifacts;
        let removed = match owner(object.as_ref()) {
            Ok(owner) => artifacts.storage().remove_owner(&owner),
            Err(_) => Ok(false),
        };
        match removed {
            Ok(true) => {
                let message = "garbage collected artifacts for deleted resource";
                run.post(Severity::Info, COLLECTED, message, &[]);
            }
            Ok(false) => {}
            Err(error) => {
                tracing::error!(object = %run.key(), %error, "cannot remove artifacts");
                return Finalized::Not(Requeue::Backoff);
            }
        }
        artifacts.forget(&object.metadata().uid);
        Finalized::Done
    }
}

/// Returns a failure that a condition of its own reports, and that is retried with a growing delay.
pub(super) fn failed(
    condition: &'static str,
    reason: &'static str,
    message: impl Into<String>,
) -> Failure {
    let failure = Failure::retried(reason, message, Duration::ZERO).requeued(Requeue::Backoff);
    Failure { condition: Some(condition), ..failure }
}

/// Returns a failure that only a change of the spec ends.
pub(super) fn stalled(
    condition: &'static str,
    reason: &'static str,
    message: impl Into<String>,
) -> Failure {
    Failure { condition: Some(condition), ..Failure::stalled(reason, message) }
}

/// Removes old artifacts, and forgets one whose file is gone or damaged, so that it is stored again. Returns the next step.
async fn check_storage<S: Source>(sources: &Sources, run: &Run<'_, S>, object: &mut S) -> String {
    let (Some(artifact), Ok(owner)) = (object.artifact().cloned(), owner(object)) else {
        return BUILDING.to_owned();
    };
    let storage = Arc::clone(sources.artifacts.storage());
    let (path, digest) = (artifact.path.clone(), artifact.digest.clone());
    let (retention, now) = (sources.options.retention, run.runtime().clock.now());
    let checked = tokio::task::spawn_blocking(move || {
        let current = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
        let removed = storage.retain(&owner, current, retention, now.into());
        let verified = storage.verify(&path, &digest);
        if matches!(verified, Err(Unverified::Mismatch { .. })) {
            storage.remove(&path)?;
        }
        Ok::<_, StorageError>((removed?, verified))
    });
    let verified = match checked.await {
        Ok(Ok((removed, verified))) => {
            if removed > 0 {
                let message = format!("garbage collected {removed} artifacts");
                run.post(Severity::Info, COLLECTED, &message, &[]);
            }
            verified
        }
        Ok(Err(error)) => {
            tracing::error!(object = %run.key(), %error, "cannot check the storage");
            Ok(())
        }
        Err(_) => Ok(()),
    };
    if let Err(problem) = verified {
        if problem != Unverified::Missing {
            let message = format!("failed to verify integrity of artifact: {problem}");
            run.post(Severity::Error, "ArtifactVerificationFailed", &message, &[]);
        }
        object.set_artifact(None);
        delete_condition(object, IN_STORAGE);
        return format!("{BUILDING}: disappeared from storage");
    }
    // The advertised host may have changed.
    let url = sources.artifact_url(&artifact.path);
    if url != artifact.url {
        object.set_artifact(Some(Artifact { url, ..artifact }));
    }
    let (generation, observed) = (object.metadata().generation, object.observed_generation());
    if generation == observed {
        "reconciliation in progress".to_owned()
    } else {
        format!("processing object: new generation {observed} -> {generation}")
    }
}

fn is_true<S: Source>(object: &S, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|found| found.status == ConditionStatus::True)
}

fn succeed<S: Source>(object: &mut S, now: Timestamp) {
    let Some(artifact) = object.artifact() else { return };
    let what = if S::KIND == "OCIRepository" { "digest" } else { "revision" };
    let message = format!("stored artifact for {what} '{}'", artifact.revision);
    for failure in FAILURES.into_iter().chain([OUTDATED]) {
        delete_condition(object, failure);
    }
    delete_condition(object, RECONCILING);
    delete_condition(object, STALLED);
    for r#type in [READY, IN_STORAGE] {
        set_condition(object, r#type, ConditionStatus::True, SUCCEEDED, &message, now);
    }
    object.observe_generation();
}

fn fail<S: Source>(object: &mut S, failure: &Failure, step: &str, now: Timestamp) {
    let (reason, message) = (failure.reason, &*failure.message);
    for other in FAILURES.iter().filter(|other| failure.condition != Some(other)) {
        delete_condition(object, other);
    }
    if let Some(condition) = failure.condition {
        // All but that of the verification are bad when they are true.
        let bad =
            if condition == VERIFIED { ConditionStatus::False } else { ConditionStatus::True };
        set_condition(object, condition, bad, reason, message, now);
    }
    if failure.class == Class::Stalled {
        mark_stalled(object, reason, message, now);
        object.observe_generation();
    } else {
        mark_reconciling(object, "ProgressingWithRetry", step, now);
    }
    set_condition(object, READY, ConditionStatus::False, reason, message, now);
}

/// Returns the facts about an artifact that events bear.
fn about<S: Source>(object: &S) -> Vec<(&'static str, String)> {
    let artifact = object.artifact();
    let facts = artifact.map(|artifact| {
        [("revision", artifact.revision.clone()), ("digest", artifact.digest.clone())]
    });
    facts.into_iter().flatten().collect()
}

/// Returns the name under which the artifacts of an object are stored.
pub(super) fn owner<S: Source>(object: &S) -> Result<Owner, Failure> {
    let metadata = object.metadata();
    let kind = S::KIND.to_lowercase();
    Owner::new(&kind, &metadata.namespace, &metadata.name)
        .map_err(|error| stalled(STORAGE_FAILED, "InvalidPath", error.to_string()))
}
