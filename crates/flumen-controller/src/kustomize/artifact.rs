//! The artifact that a Kustomization is built from.

use std::sync::Arc;

use flumen_api::{Artifact, GitRepository, GoDuration, Kind as _, Kustomization, SourceKind};
use flumen_fs::Tree;
use flumen_runtime::{Failure, Relation, Requeue, Severity};

use super::{Kustomize, unserved};
use crate::source::{Offered, source_of};

const REASON: &str = "ArtifactFailed";
/// Group of all sources.
const SOURCES: &str = GitRepository::GROUP;

/// Returns the artifact that the source of a Kustomization offers.
pub(super) fn resolve(kustomize: &Kustomize, object: &Kustomization) -> Result<Artifact, Failure> {
    let reference = &object.spec.source_ref;
    let namespace = object.source_namespace();
    let kind = reference.kind.name();
    let subject = subject(object);
    let options = &kustomize.options;
    if options.no_cross_namespace_refs && namespace != object.metadata.namespace {
        return Err(denied(&subject, "cross-namespace references have been blocked"));
    }
    if reference.kind == SourceKind::ExternalArtifact && !options.external_artifacts {
        return Err(denied(&subject, "ExternalArtifact feature gate is disabled"));
    }
    let Some(source) = source_of(object) else {
        let unserved = unserved::say(&format!("{SOURCES}/v1"), kind);
        let others = "use a GitRepository, an OCIRepository or an ExternalArtifact";
        return Err(Failure::stalled(REASON, format!("{subject}: {unserved}; {others}")));
    };
    let name = &reference.name;
    // A change of the source wakes the Kustomization.
    let waiting = |message: String| Failure::waiting(REASON, message).until(Relation::SOURCE);
    match kustomize.sources.offered(&source) {
        Offered::Missing => {
            let failure = waiting(format!("{kind}.{SOURCES} \"{name}\" not found"));
            Err(failure.requeued(Requeue::After(object.spec.retry_interval())))
        }
        Offered::Malformed(malformed) => {
            let message = format!("unable to get source '{namespace}/{name}': {malformed}");
            Err(waiting(message.clone()).with_event(Severity::Error, message))
        }
        Offered::Nothing => {
            let wait = GoDuration(kustomize.runtime.options.requeue_dependency);
            Err(waiting(format!("Source artifact not found, retrying in {wait}")))
        }
        Offered::Artifact(artifact) => Ok(artifact),
    }
}

/// Returns the source of a Kustomization, as messages name it.
fn subject(object: &Kustomization) -> String {
    let reference = &object.spec.source_ref;
    format!("{}/{}/{}", reference.kind.name(), object.source_namespace(), reference.name)
}

fn denied(subject: &str, why: &str) -> Failure {
    Failure::stalled("AccessDenied", format!("can't access '{subject}', {why}"))
}

/// Returns the files of an artifact. One that this controller does not store is fetched from its URL; a source of ours
/// fetches a lost one again.
pub(super) async fn tree(
    kustomize: &Kustomize,
    object: &Kustomization,
    artifact: &Artifact,
) -> Result<Arc<dyn Tree>, Failure> {
    let wait = GoDuration(kustomize.runtime.options.requeue_dependency);
    let waiting = |message: String| {
        let failure = Failure::waiting(REASON, message).until(Relation::SOURCE);
        failure.requeued(Requeue::After(wait.0))
    };
    let missing =
        || waiting(format!("Source is not ready, artifact not found, retrying in {wait}"));
    let artifacts = &kustomize.sources.artifacts;
    let is_fetched_here =
        source_of(object).is_some_and(|source| kustomize.sources.is_fetched_here(&source));
    let found = if is_fetched_here {
        // The reconciliation of the source wakes the Kustomization.
        artifacts.stored_tree(artifact).await.transpose().ok_or_else(missing)?
    } else {
        let reference = &object.spec.source_ref;
        let source = (reference.kind.name(), object.source_namespace(), reference.name.as_str());
        artifacts.tree(source, artifact, kustomize.runtime.clock.now()).await
    };
    found.map_err(|error| {
        if error.is_missing() {
            missing()
        } else if error.is_other() {
            waiting(format!("{error}; {} must publish its artifact again", subject(object)))
        } else {
            waiting(error.to_string())
        }
    })
}
