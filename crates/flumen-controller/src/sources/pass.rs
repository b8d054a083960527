//! One pass over a source.
//!
//! All kinds of sources go the same way: what is stored is looked at, the remote is asked for its revision, and only a
//! new one is fetched. What came of it is written once.

use std::{future::Future, sync::Arc, time::Duration};

use flumen_api::{
    Artifact, ConditionStatus, Kind, READY, RECONCILING, STALLED, condition, delete_condition,
    is_ready, mark_reconciling, mark_stalled, set_condition,
};
use flumen_source::Owner;
use jiff::Timestamp;

use crate::{
    Controller, Key,
    cache::Reflected,
    events::Severity,
    queue::Next,
    status::{self, FINALIZER, requested_at, set_finalizer},
};

/// The manager of status and finalizers.
const STATUS_MANAGER: &str = "gotk-source-controller";
const IN_STORAGE: &str = "ArtifactInStorage";
const VERIFIED: &str = "SourceVerified";
const SUCCEEDED: &str = "Succeeded";
/// Conditions that tell of failures; success takes them away.
const FAILURES: [&str; 4] =
    ["FetchFailed", "StorageOperationFailed", "IncludeUnavailable", "ArtifactOutdated"];

/// A kind of source.
pub(crate) trait Source: Kind {
    fn artifact(&self) -> Option<&Artifact>;
    fn set_artifact(&mut self, artifact: Option<Artifact>);
    fn interval(&self) -> Duration;
    fn is_suspended(&self) -> bool;
    fn observed_generation_mut(&mut self) -> &mut i64;
    fn last_handled_mut(&mut self) -> &mut Option<String>;
    /// Where objects of this kind are known.
    fn reflected(controller: &Controller) -> &Arc<Reflected<Self>>;

    /// Asks the remote, and fetches and stores what is new. May note in the status what it went by, and with `step` what
    /// it is about to do.
    fn produce(
        &mut self,
        controller: &Controller,
        step: &mut String,
    ) -> impl Future<Output = Result<Produced, Failure>>;
}

/// What asking the remote has come to.
#[derive(Debug)]
pub(crate) enum Produced {
    /// What is stored is what the remote has.
    Unchanged,
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

impl Failure {
    pub(crate) fn fetching(reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { condition: "FetchFailed", reason, message, class: Class::Retried }
    }

    pub(crate) fn stalling(reason: &'static str, message: impl Into<String>) -> Self {
        Self { class: Class::Stalled, ..Self::fetching(reason, message) }
    }
}

/// Reconciles a source.
pub(crate) async fn reconcile<S: Source>(controller: &Controller, key: &Key) -> Next {
    let reflected = S::reflected(controller);
    let known = match reflected.get(&key.namespace, &key.name) {
        Some(Ok(object)) => object,
        Some(Err(malformed)) => {
            tracing::error!(object = %key, error = %malformed, "cannot be read");
            return Next::Rest;
        }
        None => return Next::Rest,
    };
    if known.metadata().deletion_timestamp.is_some() {
        return finalize(controller, key, known.as_ref()).await;
    }
    let known = if known.metadata().finalizers.iter().any(|name| name == FINALIZER) {
        known
    } else {
        match set_finalizer(&controller.client, known.as_ref(), true, STATUS_MANAGER).await {
            Ok(node) => reflected.saw(&node),
            // What has changed is on its way to us.
            Err(error) if error.is_conflict() || error.is_not_found() => return Next::Rest,
            Err(error) => {
                tracing::error!(object = %key, %error, "cannot add the finalizer");
                return Next::Retry;
            }
        }
        match reflected.get(&key.namespace, &key.name) {
            Some(Ok(object)) => object,
            _ => return Next::Now,
        }
    };
    let mut object = known.as_ref().clone();
    if let Some(requested) = requested_at(&object).cloned() {
        *object.last_handled_mut() = Some(requested);
    }
    if object.is_suspended() {
        return write(controller, key, known.as_ref(), &object, Next::Rest).await;
    }
    look_after_storage(controller, key, &mut object);
    let mut step = "building artifact".to_owned();
    let produced = object.produce(controller, &mut step).await;
    let next = match &produced {
        Ok(_) => Next::After(controller.options.jittered(object.interval())),
        Err(failure) => match failure.class {
            Class::Retried => Next::Retry,
            Class::Waiting => Next::After(controller.options.requeue_dependency),
            Class::Stalled => Next::Rest,
        },
    };
    let events = &controller.source_events;
    match produced {
        Ok(Produced::Unchanged) => {
            let recovered = !is_ready(known.as_ref()) && object.artifact().is_some();
            succeed::<S>(&mut object);
            if recovered && let Some(ready) = condition(&object, READY) {
                events.post(&object, Severity::Info, SUCCEEDED, &ready.message, &about(&object));
            }
        }
        Ok(Produced::New { artifact, news }) => {
            let is_new = known.artifact().is_none_or(|old| old.digest != artifact.digest);
            let was_failing = condition(known.as_ref(), READY)
                .is_some_and(|ready| ready.status == ConditionStatus::False);
            object.set_artifact(Some(artifact));
            succeed::<S>(&mut object);
            if is_new {
                events.post(&object, Severity::Info, "NewArtifact", &news, &about(&object));
            } else if was_failing {
                events.post(&object, Severity::Info, SUCCEEDED, &news, &about(&object));
            }
        }
        Err(failure) => {
            tracing::error!(object = %key, reason = failure.reason, error = %failure.message, "failed");
            fail(&mut object, &failure, &step);
            events.post(&object, Severity::Error, failure.reason, &failure.message, &[]);
        }
    }
    write(controller, key, known.as_ref(), &object, next).await
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

/// Forgets an artifact whose file is gone or damaged, so that it is made again.
fn look_after_storage<S: Source>(controller: &Controller, key: &Key, object: &mut S) {
    let Some(artifact) = object.artifact() else { return };
    let storage = controller.artifacts.storage();
    if let Err(error) = storage.verify(&artifact.path, &artifact.digest) {
        tracing::info!(object = %key, %error, "the artifact is not in the storage");
        object.set_artifact(None);
    }
}

fn succeed<S: Source>(object: &mut S) {
    let now = Timestamp::now();
    let Some(artifact) = object.artifact() else { return };
    let what = if S::KIND == "OCIRepository" { "digest" } else { "revision" };
    let message = format!("stored artifact for {what} '{}'", artifact.revision);
    for failure in FAILURES {
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
    let bad = if failure.condition == VERIFIED {
        ConditionStatus::False
    } else {
        ConditionStatus::True
    };
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
        condition: "StorageOperationFailed",
        reason: "InvalidPath",
        message: error.to_string(),
        class: Class::Stalled,
    })
}

async fn finalize<S: Source>(controller: &Controller, key: &Key, object: &S) -> Next {
    if let Ok(owner) = owner(object)
        && let Err(error) = controller.artifacts.storage().remove_owner(&owner)
    {
        tracing::error!(object = %key, %error, "cannot remove artifacts");
        return Next::Retry;
    }
    if object.artifact().is_some() {
        let message = "garbage collected artifacts for deleted resource";
        let reason = "GarbageCollectionSucceeded";
        controller.source_events.post(object, Severity::Info, reason, message, &[]);
    }
    match set_finalizer(&controller.client, object, false, STATUS_MANAGER).await {
        Ok(_) => Next::Rest,
        Err(error) if error.is_not_found() => Next::Rest,
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot remove the finalizer");
            Next::Retry
        }
    }
}
