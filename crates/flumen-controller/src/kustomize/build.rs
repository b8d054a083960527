//! From the files of an artifact to objects.

use std::{path::Path, sync::Arc};

use flumen_api::{Artifact, Kustomization, SubstituteKind};
use flumen_build::flux::{BuildError, Lookup, Reads, Request, Variables, set_common_metadata};
use flumen_fs::Tree;
use flumen_git::{Limits, Remotes};
use flumen_object::{Object, ObjectSet, Origin};
use flumen_runtime::{ReferenceError, config_map, secret};
use tokio::task::spawn_blocking;

use super::Kustomize;

/// The root of an artifact, as its files see it.
const ROOT: &str = "/";

/// What a build depends on.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// The spec, the variables and the flags, as a hash.
    fingerprint: [u8; 32],
    /// Labels and annotations that all objects get, which come after the build.
    generation: i64,
    artifact_digest: String,
    variables: Variables,
    /// What was read of the artifact; nothing before the build.
    reads: Arc<Reads>,
    /// Whether something was read that is not in the artifact.
    has_remotes: bool,
}

/// What a build ends in.
pub(super) struct Built {
    pub(super) objects: ObjectSet,
    pub(super) digest: String,
    pub(super) input: Input,
}

impl Input {
    /// Looks up what the build needs beside the artifact.
    pub(super) async fn new(
        kustomize: &Kustomize,
        object: &Kustomization,
        artifact: &Artifact,
    ) -> Self {
        let variables = variables(kustomize, object).await;
        let request = request(kustomize, object, &variables);
        Self {
            fingerprint: request.fingerprint(),
            generation: object.metadata.generation,
            artifact_digest: artifact.digest.clone(),
            reads: Arc::default(),
            has_remotes: false,
            variables,
        }
    }

    /// Whether a build of `newer` in `tree` would end as this one did. If so, the input to remember from now on.
    pub(super) fn is_same(&self, newer: &Self, tree: &dyn Tree) -> Option<Self> {
        let is_same = !self.has_remotes
            && self.fingerprint == newer.fingerprint
            && self.generation == newer.generation
            && (self.artifact_digest == newer.artifact_digest
                || self.reads.unchanged_in(tree, Path::new(ROOT)));
        is_same.then(|| Self { reads: self.reads.clone(), ..newer.clone() })
    }
}

/// Fails unless the artifact has what is to be built.
pub(super) fn check_path(tree: &Arc<dyn Tree>, path: &str) -> Result<(), String> {
    flumen_build::flux::check_path(tree, Path::new(ROOT), path).map_err(|error| error.to_string())
}

/// Builds, on a thread that may be busy.
pub(super) async fn build(
    kustomize: &Kustomize,
    object: &Kustomization,
    tree: Arc<dyn Tree>,
    input: Input,
) -> Result<Built, String> {
    let strict = kustomize.options.strict_substitutions;
    let remotes = !kustomize.options.no_remote_bases;
    let spec = object.spec.clone();
    let built = spawn_blocking(move || {
        let request = Request {
            root: Path::new(ROOT),
            spec: &spec,
            variables: &input.variables,
            strict,
            remotes: remotes
                .then(|| Arc::new(Remotes::new(Limits::default(), Arc::default())) as _),
        };
        let built = flumen_build::flux::build(&tree, &request)?;
        // Messages name objects; files of an artifact are nowhere where a user could look.
        let objects = built.objects.into_iter().map(|object| {
            let mut object = Object { origin: Origin::default(), ..object };
            if let Some(metadata) = &spec.common_metadata {
                set_common_metadata(&mut object.node, metadata);
            }
            object
        });
        let objects = objects.collect();
        let input = Input {
            reads: Arc::new(built.reads),
            has_remotes: !built.remote_sources.is_empty(),
            ..input
        };
        Ok::<_, BuildError>(Built { objects, digest: built.digest, input })
    });
    let built = built.await.map_err(|error| error.to_string())?;
    built.map_err(|error| error.to_string())
}

fn request<'a>(
    kustomize: &Kustomize,
    object: &'a Kustomization,
    variables: &'a Variables,
) -> Request<'a> {
    Request {
        root: Path::new(ROOT),
        spec: &object.spec,
        variables,
        strict: kustomize.options.strict_substitutions,
        remotes: None,
    }
}

/// What `substituteFrom` refers to.
async fn variables(kustomize: &Kustomize, object: &Kustomization) -> Variables {
    let mut variables = Variables::default();
    let references = object.spec.post_build.iter().flat_map(|post| &post.substitute_from);
    let (client, namespace) = (&kustomize.runtime.client, &object.metadata.namespace);
    for reference in references {
        let name = &reference.name;
        let found = match reference.kind {
            SubstituteKind::ConfigMap => config_map(client, namespace, name).await,
            SubstituteKind::Secret => secret(client, namespace, name).await.map(|secret| {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                secret.into_iter().map(|(key, bytes)| (key, text(bytes))).collect()
            }),
        };
        let lookup = match found {
            Ok(values) => Lookup::Found(values),
            Err(ReferenceError::NotFound(..)) => Lookup::Missing,
            Err(error) => Lookup::Failed(error.to_string()),
        };
        variables.insert(reference.kind, name, lookup);
    }
    variables
}
