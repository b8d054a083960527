//! The artifact that a Kustomization is built from.

use std::sync::Arc;

use flumen_api::{Artifact, GitRepository, Kind, Kustomization, SourceKind};
use flumen_fs::Tree;

use super::{
    failure::{Failure, Said},
    unserved,
};
use crate::{Controller, Key, cache::reflected::Read, queue::Next};

pub(crate) const REASON: &str = "ArtifactFailed";
/// The group of all sources.
const SOURCES: &str = GitRepository::GROUP;

/// What the source of a Kustomization offers.
pub(super) fn resolve(
    controller: &Controller,
    object: &Kustomization,
) -> Result<Artifact, Failure> {
    let reference = &object.spec.source_ref;
    let namespace = object.source_namespace();
    let kind = reference.kind.name();
    let subject = subject(object);
    if controller.options.no_cross_namespace_refs && namespace != object.metadata.namespace {
        return Err(denied(&subject, "cross-namespace references have been blocked"));
    }
    if reference.kind == SourceKind::ExternalArtifact && !controller.options.external_artifacts {
        return Err(denied(&subject, "ExternalArtifact feature gate is disabled"));
    }
    let name = &reference.name;
    let found = match reference.kind {
        SourceKind::GitRepository => {
            let found = controller.git_repositories.get(namespace, name);
            offered(found, |source| source.status.artifact.as_ref())
        }
        SourceKind::OciRepository => {
            let found = controller.oci_repositories.get(namespace, name);
            offered(found, |source| source.status.artifact.as_ref())
        }
        SourceKind::ExternalArtifact => {
            let found = controller.external_artifacts.get(namespace, name);
            offered(found, |source| source.status.artifact.as_ref())
        }
        SourceKind::Bucket => {
            let unserved = unserved::say(&format!("{SOURCES}/v1"), kind);
            let others = "use a GitRepository, an OCIRepository or an ExternalArtifact";
            return Err(Failure::terminal(REASON, format!("{subject}: {unserved}; {others}")));
        }
    };
    let retry = Next::After(object.spec.retry_interval());
    match found {
        None => {
            let message = format!("{kind}.{SOURCES} \"{name}\" not found");
            Err(Failure::waiting(REASON, message, retry))
        }
        Some(Err(malformed)) => {
            let message = format!("unable to get source '{namespace}/{name}': {malformed}");
            // When it is corrected, its artifact wakes us.
            Err(Failure::waiting(REASON, message, Next::Rest).saying(Said::Message))
        }
        Some(Ok(None)) => {
            let wait = flumen_api::GoDuration(controller.options.requeue_dependency);
            let message = format!("Source artifact not found, retrying in {wait}");
            // The artifact itself wakes us.
            Err(Failure::waiting(REASON, message, Next::Rest))
        }
        Some(Ok(Some(artifact))) => Ok(artifact),
    }
}

/// The source of a Kustomization, as messages name it.
fn subject(object: &Kustomization) -> String {
    let reference = &object.spec.source_ref;
    format!("{}/{}/{}", reference.kind.name(), object.source_namespace(), reference.name)
}

fn denied(subject: &str, why: &str) -> Failure {
    Failure::terminal("AccessDenied", format!("can't access '{subject}', {why}"))
}

/// The artifact of a source that is there, or why that cannot be known.
fn offered<K: Kind>(
    found: Option<Read<K>>,
    artifact: impl Fn(&K) -> Option<&Artifact>,
) -> Option<Result<Option<Artifact>, String>> {
    let read = |source: Arc<K>| artifact(&source).cloned();
    found.map(|found| found.map(read).map_err(|malformed| malformed.to_string()))
}

/// The files of an artifact: those that we hold already, else fetched from whoever serves them. What a source of ours has
/// lost it fetches again.
pub(super) async fn tree(
    controller: &Controller,
    object: &Kustomization,
    artifact: &Artifact,
) -> Result<Arc<dyn Tree>, Failure> {
    let wait = flumen_api::GoDuration(controller.options.requeue_dependency);
    let missing = || {
        let message = format!("Source is not ready, artifact not found, retrying in {wait}");
        Failure::waiting(REASON, message, Next::After(wait.0))
    };
    let found = if is_fetched_here(controller, object) {
        // Its pass wakes us when it is there.
        controller.artifacts.stored_tree(artifact).await.transpose().ok_or_else(missing)?
    } else {
        let reference = &object.spec.source_ref;
        let source = (reference.kind.name(), object.source_namespace(), reference.name.as_str());
        controller.artifacts.tree(source, artifact).await
    };
    found.map_err(|error| {
        if error.is_missing() {
            return missing();
        }
        let message = if error.is_other() {
            format!("{error}; {} must publish its artifact again", subject(object))
        } else {
            error.to_string()
        };
        Failure::waiting(REASON, message, Next::After(wait.0))
    })
}

/// Whether the source of a Kustomization is one that we fetch.
fn is_fetched_here(controller: &Controller, object: &Kustomization) -> bool {
    let (namespace, name) = (object.source_namespace(), &object.spec.source_ref.name);
    let is_ours = |kind| controller.serves(&Key::new(kind, namespace, name));
    match object.spec.source_ref.kind {
        SourceKind::GitRepository => {
            let found = controller.git_repositories.get(namespace, name);
            matches!(found, Some(Ok(source)) if !source.spec.suspend)
                && is_ours(crate::Kind::GitRepository)
        }
        SourceKind::OciRepository => {
            let found = controller.oci_repositories.get(namespace, name);
            matches!(found, Some(Ok(source)) if !source.spec.suspend)
                && is_ours(crate::Kind::OciRepository)
        }
        SourceKind::ExternalArtifact | SourceKind::Bucket => false,
    }
}
