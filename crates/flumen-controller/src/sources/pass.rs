//! One pass over a source.
//!
//! All kinds of sources go the same way: what is stored is looked at, the remote is asked for its revision, and only a
//! new one is fetched. What came of it is written once; before that only when it takes longer than a second.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use flumen_api::{
    Artifact, ConditionStatus, Kind, READY, RECONCILING, STALLED, condition, delete_condition,
    mark_reconciling, mark_stalled, set_condition,
};
use flumen_source::{Owner, StorageError, Unverified};
use jiff::Timestamp;
use tokio::time::sleep;

use super::local;
use crate::{
    Controller, Key,
    cache::Reflected,
    events::Severity,
    malformed,
    queue::Next,
    status::{self, requested_at, set_finalizer, with_finalizer},
};

/// The manager of status and finalizers.
const STATUS_MANAGER: &str = "gotk-source-controller";
/// Work that takes longer is shown while it goes on.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const PROGRESSING: &str = "Progressing";
/// How steps begin that end in a new artifact.
pub(super) const BUILDING: &str = "building artifact";
const COLLECTED: &str = "GarbageCollectionSucceeded";
const IN_STORAGE: &str = "ArtifactInStorage";
pub(super) const VERIFIED: &str = "SourceVerified";
pub(super) const OUTDATED: &str = "ArtifactOutdated";
pub(super) const FETCH_FAILED: &str = "FetchFailed";
pub(super) const STORAGE_FAILED: &str = "StorageOperationFailed";
pub(super) const SUCCEEDED: &str = "Succeeded";
pub(super) const INCLUDE_UNAVAILABLE: &str = "IncludeUnavailable";
/// Conditions that tell of failures; success takes them away.
const FAILURES: [&str; 3] = [FETCH_FAILED, STORAGE_FAILED, INCLUDE_UNAVAILABLE];

/// A kind of source.
pub(crate) trait Source: Kind {
    fn artifact(&self) -> Option<&Artifact>;
    fn set_artifact(&mut self, artifact: Option<Artifact>);
    fn interval(&self) -> Duration;
    fn is_suspended(&self) -> bool;
    /// Patterns of what stays out of the artifact.
    fn ignore(&self) -> Option<&str>;
    fn observed_generation_mut(&mut self) -> &mut i64;
    fn last_handled_mut(&mut self) -> &mut Option<String>;
    /// Where objects of this kind are known.
    fn reflected(controller: &Controller) -> &Arc<Reflected<Self>>;

    /// Asks the remote, and fetches and stores what is new. May note in the status what it went by, and with `step` what
    /// it is about to do.
    fn produce(
        &mut self,
        controller: &Controller,
        step: &Step,
    ) -> impl Future<Output = Result<Produced, Failure>>;
}

/// What a pass is about to do, which others may want to know while it goes on.
#[derive(Debug)]
pub(crate) struct Step(Mutex<String>);

impl Step {
    fn new(text: String) -> Self {
        Self(Mutex::new(text))
    }

    pub(super) fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What asking the remote has come to.
#[derive(Debug)]
pub(crate) enum Produced {
    /// What is stored is what the remote has.
    Unchanged {
        /// What is posted about that, and why.
        reason: &'static str,
        note: String,
        /// What is posted instead after a failure.
        news: String,
    },
    New {
        artifact: Artifact,
        /// What is posted about it.
        news: String,
    },
}

/// Why there is no new artifact.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The condition that tells of it. All are bad when they are true, except that of verification.
    pub(crate) condition: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Tried again, later each time.
    Retried,
    /// Something else must come first.
    Waiting,
    /// Nothing will change until the spec does.
    Stalled,
}

/// Reconciles a source.
pub(crate) async fn reconcile<S: Source>(controller: &Controller, key: &Key) -> Next {
    let reflected = S::reflected(controller);
    let known = match reflected.get(&key.namespace, &key.name) {
        Some(Ok(object)) => object,
        Some(Err(object)) => {
            let to = (reflected.as_ref(), &controller.source_events);
            return malformed::tell(controller, key, &object, to, STATUS_MANAGER).await;
        }
        None => return Next::Rest,
    };
    if known.metadata().deletion_timestamp.is_some() {
        return finalize(controller, key, known.as_ref()).await;
    }
    let client = &controller.client;
    let known = match with_finalizer(client, reflected, known, STATUS_MANAGER).await {
        Ok(known) => known,
        Err(next) => return next,
    };
    let mut object = known.as_ref().clone();
    if object.is_suspended() {
        // What was said before is said of this spec, too.
        if let Some(ready) = condition(&object, READY).cloned() {
            let now = Timestamp::now();
            set_condition(&mut object, READY, ready.status, &ready.reason, &ready.message, now);
        }
        *object.observed_generation_mut() = object.metadata().generation;
        handle_request(&mut object);
        return write(controller, key, known.as_ref(), &object, Next::Rest).await;
    }
    let step = Step::new(look_after_storage(controller, key, &mut object).await);
    let (produced, written) = produce(controller, key, known.clone(), &mut object, &step).await;
    let next = match &produced {
        Ok(_) => Next::After(controller.options.jittered(object.interval())),
        Err(failure) => match failure.class {
            Class::Retried => Next::Retry,
            Class::Waiting => Next::After(controller.options.requeue_dependency),
            Class::Stalled => Next::Rest,
        },
    };
    let events = &controller.source_events;
    let has_recovered = FAILURES.iter().any(|failure| is_true(known.as_ref(), failure));
    match produced {
        Ok(Produced::Unchanged { reason, note, news }) => {
            succeed::<S>(&mut object);
            events.post(&object, Severity::Info, reason, &note, &[]);
            if has_recovered {
                events.post(&object, Severity::Info, SUCCEEDED, &news, &about(&object));
            }
        }
        Ok(Produced::New { artifact, news }) => {
            let is_new = known.artifact().is_none_or(|old| old.digest != artifact.digest);
            object.set_artifact(Some(artifact));
            succeed::<S>(&mut object);
            if is_new {
                events.post(&object, Severity::Info, "NewArtifact", &news, &about(&object));
            } else if has_recovered {
                events.post(&object, Severity::Info, SUCCEEDED, &news, &about(&object));
            }
        }
        Err(failure) => {
            let Failure { reason, message, class, .. } = &failure;
            let severity = if *class == Class::Waiting {
                tracing::info!(object = %key, reason, why = %message, "waits");
                Severity::Info
            } else {
                tracing::error!(object = %key, reason, error = %message, "failed");
                Severity::Error
            };
            fail(&mut object, &failure, &step.text());
            events.post(&object, severity, reason, message, &[]);
        }
    }
    handle_request(&mut object);
    write(controller, key, written.as_ref(), &object, next).await
}

/// Marks the request of a user as answered.
fn handle_request<S: Source>(object: &mut S) {
    if let Some(requested) = requested_at(object).cloned() {
        *object.last_handled_mut() = Some(requested);
    }
}

/// Produces an artifact, and says so if that takes its time. Returns the object as it is on the cluster, too.
async fn produce<S: Source>(
    controller: &Controller,
    key: &Key,
    known: Arc<S>,
    object: &mut S,
    step: &Step,
) -> (Result<Produced, Failure>, Arc<S>) {
    let at_work = object.clone();
    // It is large, and there are many passes.
    let mut work = Box::pin(async {
        match controller.local_sources.get(key) {
            Some(local) => local::produce(object, controller, local.clone(), step).await,
            None => object.produce(controller, step).await,
        }
    });
    tokio::select! {
        produced = &mut work => (produced, known),
        () = sleep(SHOWN_AFTER) => {
            let written = show(controller, key, known, at_work, step).await;
            (work.await, written)
        }
    }
}

/// Tells the cluster what a pass is doing, and returns the object as it is there from then on.
async fn show<S: Source>(
    controller: &Controller,
    key: &Key,
    written: Arc<S>,
    mut object: S,
    step: &Step,
) -> Arc<S> {
    let (now, step) = (Timestamp::now(), step.text());
    mark_reconciling(&mut object, PROGRESSING, &step, now);
    if object.artifact().is_none() || step.starts_with(BUILDING) {
        set_condition(&mut object, READY, ConditionStatus::Unknown, PROGRESSING, &step, now);
    }
    match status::write(&controller.client, written.as_ref(), &object, STATUS_MANAGER).await {
        Ok(Some(node)) => {
            S::reflected(controller).saw(&node);
            Arc::new(object)
        }
        Ok(None) => written,
        Err(error) => {
            tracing::warn!(object = %key, %error, "cannot show progress");
            written
        }
    }
}

async fn write<S: Source>(
    controller: &Controller,
    key: &Key,
    before: &S,
    after: &S,
    next: Next,
) -> Next {
    match status::write(&controller.client, before, after, STATUS_MANAGER).await {
        Ok(Some(node)) => S::reflected(controller).saw(&node),
        Ok(None) => {}
        Err(error) if error.is_not_found() => return Next::Rest,
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot write the status");
            return Next::Retry;
        }
    }
    next
}

/// Removes what is no longer needed, and forgets an artifact whose file is gone or damaged, so that it is made again.
/// Says what comes next.
async fn look_after_storage<S: Source>(
    controller: &Controller,
    key: &Key,
    object: &mut S,
) -> String {
    let events = &controller.source_events;
    let (Some(artifact), Ok(owner)) = (object.artifact().cloned(), owner(object)) else {
        return BUILDING.to_owned();
    };
    let storage = Arc::clone(controller.artifacts.storage());
    let (path, digest) = (artifact.path.clone(), artifact.digest.clone());
    let retention = controller.options.retention;
    let looked = tokio::task::spawn_blocking(move || {
        let current = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
        let removed = storage.retain(&owner, current, retention, Timestamp::now().into());
        let verified = storage.verify(&path, &digest);
        if matches!(verified, Err(Unverified::Mismatch { .. })) {
            storage.remove(&path)?;
        }
        Ok::<_, StorageError>((removed?, verified))
    });
    let verified = match looked.await {
        Ok(Ok((removed, verified))) => {
            if removed > 0 {
                let message = format!("garbage collected {removed} artifacts");
                events.post(object, Severity::Info, COLLECTED, &message, &[]);
            }
            verified
        }
        Ok(Err(error)) => {
            tracing::error!(object = %key, %error, "cannot look after the storage");
            Ok(())
        }
        Err(_) => Ok(()),
    };
    if let Err(problem) = verified {
        if problem != Unverified::Missing {
            let message = format!("failed to verify integrity of artifact: {problem}");
            events.post(object, Severity::Error, "ArtifactVerificationFailed", &message, &[]);
        }
        object.set_artifact(None);
        delete_condition(object, IN_STORAGE);
        return format!("{BUILDING}: disappeared from storage");
    }
    // Others may know us under another name than before.
    let url = controller.artifact_url(&artifact.path);
    if url != artifact.url {
        object.set_artifact(Some(Artifact { url, ..artifact }));
    }
    let (generation, observed) = (object.metadata().generation, *object.observed_generation_mut());
    if generation == observed {
        "reconciliation in progress".to_owned()
    } else {
        format!("processing object: new generation {observed} -> {generation}")
    }
}

fn is_true<S: Source>(object: &S, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|found| found.status == ConditionStatus::True)
}

fn succeed<S: Source>(object: &mut S) {
    let now = Timestamp::now();
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
    *object.observed_generation_mut() = object.metadata().generation;
}

fn fail<S: Source>(object: &mut S, failure: &Failure, step: &str) {
    let now = Timestamp::now();
    let (reason, message) = (failure.reason, failure.message.as_str());
    for other in FAILURES.iter().filter(|other| **other != failure.condition) {
        delete_condition(object, other);
    }
    let bad =
        if failure.condition == VERIFIED { ConditionStatus::False } else { ConditionStatus::True };
    set_condition(object, failure.condition, bad, reason, message, now);
    if failure.class == Class::Stalled {
        mark_stalled(object, reason, message, now);
        *object.observed_generation_mut() = object.metadata().generation;
    } else {
        mark_reconciling(object, "ProgressingWithRetry", step, now);
    }
    set_condition(object, READY, ConditionStatus::False, reason, message, now);
}

/// What events say about an artifact.
fn about<S: Source>(object: &S) -> Vec<(&'static str, &str)> {
    let artifact = object.artifact();
    let facts = artifact.map(|artifact| {
        [("revision", artifact.revision.as_str()), ("digest", artifact.digest.as_str())]
    });
    facts.into_iter().flatten().collect()
}

/// The name under which the artifacts of an object are stored.
pub(super) fn owner<S: Source>(object: &S) -> Result<Owner, Failure> {
    let metadata = object.metadata();
    let kind = S::KIND.to_lowercase();
    Owner::new(&kind, &metadata.namespace, &metadata.name).map_err(|error| Failure {
        condition: STORAGE_FAILED,
        reason: "InvalidPath",
        message: error.to_string(),
        class: Class::Stalled,
    })
}

async fn finalize<S: Source>(controller: &Controller, key: &Key, object: &S) -> Next {
    let removed = match owner(object) {
        Ok(owner) => controller.artifacts.storage().remove_owner(&owner),
        Err(_) => Ok(false),
    };
    match removed {
        Ok(true) => {
            let message = "garbage collected artifacts for deleted resource";
            controller.source_events.post(object, Severity::Info, COLLECTED, message, &[]);
        }
        Ok(false) => {}
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot remove artifacts");
            return Next::Retry;
        }
    }
    controller.artifacts.forget(&object.metadata().uid);
    match set_finalizer(&controller.client, object, false, STATUS_MANAGER).await {
        Ok(_) => Next::Rest,
        Err(error) if error.is_not_found() => Next::Rest,
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot remove the finalizer");
            Next::Retry
        }
    }
}
