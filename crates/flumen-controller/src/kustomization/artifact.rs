//! The artifact that a Kustomization is built from.

use std::sync::Arc;

use flumen_api::{Artifact, Kind as _, Kustomization, Malformed, SourceKind};
use flumen_fs::Tree;

use super::failure::Failure;
use crate::{Controller, queue::Next};

const REASON: &str = "ArtifactFailed";

/// What the source of a Kustomization offers.
pub(super) fn resolve(
    controller: &Controller,
    object: &Kustomization,
) -> Result<Artifact, Failure> {
    let reference = &object.spec.source_ref;
    let namespace = object.source_namespace();
    let kind = reference.kind.name();
    let subject = format!("{kind}/{namespace}/{}", reference.name);
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
            found.map(|read| read.map(|source| source.status.artifact.clone()))
        }
        SourceKind::OciRepository => {
            let found = controller.oci_repositories.get(namespace, name);
            found.map(|read| read.map(|source| source.status.artifact.clone()))
        }
        SourceKind::ExternalArtifact => {
            let found = controller.external_artifacts.get(namespace, name);
            found.map(|read| read.map(|source| source.status.artifact.clone()))
        }
        SourceKind::Bucket => None,
    };
    let retry = Next::After(object.spec.retry_interval());
    match found {
        None => {
            let group = flumen_api::GitRepository::GROUP;
            let message = format!("{kind}.{group} \"{name}\" not found");
            Err(Failure::waiting(REASON, message, retry))
        }
        Some(Err(malformed)) => Err(unreadable(namespace, name, &malformed)),
        Some(Ok(None)) => {
            let wait = flumen_api::GoDuration(controller.options.requeue_dependency);
            let message = format!("Source artifact not found, retrying in {wait}");
            // The artifact itself wakes us.
            Err(Failure::waiting(REASON, message, Next::Rest))
        }
        Some(Ok(Some(artifact))) => Ok(artifact),
    }
}

fn denied(subject: &str, why: &str) -> Failure {
    Failure::terminal("AccessDenied", format!("can't access '{subject}', {why}"))
}

fn unreadable(namespace: &str, name: &str, malformed: &Malformed) -> Failure {
    let message = format!("unable to get source '{namespace}/{name}': {malformed}");
    Failure::waiting(REASON, message, Next::Retry)
}

/// The files of an artifact: those that we hold already, else fetched from whoever serves them.
pub(super) async fn tree(
    controller: &Controller,
    artifact: &Artifact,
) -> Result<Arc<dyn Tree>, Failure> {
    let wait = flumen_api::GoDuration(controller.options.requeue_dependency);
    controller.artifacts.tree(artifact).await.map_err(|error| {
        let message = if error.is_missing() {
            format!("Source is not ready, artifact not found, retrying in {wait}")
        } else {
            error.to_string()
        };
        Failure::waiting(REASON, message, Next::After(wait.0))
    })
}
