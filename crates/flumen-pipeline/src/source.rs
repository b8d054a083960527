//! Where the content of an artifact comes from: one module for each type of source.

pub(crate) mod inline;
pub(crate) mod kustomize;
pub(crate) mod oci_artifact;

use std::{
    panic::resume_unwind,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use flumen_fs::DiskTree;
use flumen_git::Limits;
use flumen_oci::{
    Descriptor,
    artifact::{Metadata, Tagging, push_yaml},
};

use crate::{
    Error, Result,
    build::{Caching, Destination, Environment, Registries, Remote},
    cache::{Cache, Conditions, Entry, Key, retag},
    job::Observer,
    plan::BuildPlan,
};

/// What a source needs from the job that it works for.
pub(crate) struct Context<'a> {
    plan: &'a BuildPlan,
    destination: &'a Destination,
    registries: &'a dyn Registries,
    caching: Caching,
    remote: Remote,
    cache: Cache,
    observer: &'a dyn Observer,
    /// A directory that goes with the job.
    workspace: &'a Path,
    stop: &'a Arc<AtomicBool>,
}

/// What is now in the destination.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) descriptor: Descriptor,
    pub(crate) content_bytes: u64,
    pub(crate) source: String,
    pub(crate) revision: String,
    pub(crate) reused: bool,
}

/// Manifests before they are packed.
struct Rendered {
    yaml: Vec<u8>,
    provenance: Provenance,
    /// What the content depends on beyond the key.
    conditions: Conditions,
}

/// Where content comes from; empty where that has no name.
#[derive(Clone, Debug, Default)]
struct Provenance {
    source: String,
    revision: String,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        plan: &'a BuildPlan,
        environment: &'a Environment,
        observer: &'a dyn Observer,
        workspace: &'a Path,
        stop: &'a Arc<AtomicBool>,
    ) -> Result<Self> {
        Ok(Self {
            plan,
            destination: &environment.destination,
            registries: &*environment.registries,
            caching: environment.caching,
            remote: environment.remote,
            cache: Cache::new(environment.state.cache()?),
            observer,
            workspace,
            stop,
        })
    }

    /// What fetching may cost, and where it leaves what it fetched.
    fn limits(&self) -> Limits {
        Limits { scratch: Some(self.workspace.to_owned()), ..Limits::default() }
    }

    /// Tags the artifact of an earlier build of equal inputs, if there is one.
    async fn reuse(&self, key: &Key, provenance: &Provenance) -> Result<Option<Made>> {
        if self.caching == Caching::BuildAlways {
            return Ok(None);
        }
        let Some(entry) = self.cache.find(key) else { return Ok(None) };
        let (conditions, stop) = (entry.conditions, Arc::clone(self.stop));
        if !blocking(move || Ok(conditions.hold(&DiskTree, &stop))).await? {
            return Ok(None);
        }
        let tag = &self.plan.dst_tag;
        let found = retag(&self.destination.repository, &entry.digest, tag).await?;
        Ok(found.map(|manifest| {
            let digest = manifest.digest();
            self.observer.log(&format!("inputs have not changed: {tag} is {digest}, built before"));
            Made {
                descriptor: manifest.descriptor,
                content_bytes: entry.content_bytes,
                source: provenance.source.clone(),
                revision: provenance.revision.clone(),
                reused: true,
            }
        }))
    }

    /// Packs manifests, stores the artifact and remembers what it was made from.
    async fn publish(&self, key: &Key, rendered: Rendered) -> Result<Made> {
        let Rendered { yaml, provenance: Provenance { source, revision }, conditions } = rendered;
        let metadata = Metadata {
            source: source.clone(),
            revision: revision.clone(),
            created: self.plan.component_build_id.created(),
            ..Metadata::default()
        };
        let content_bytes = yaml.len() as u64;
        let tag = Tagging::Always(&self.plan.dst_tag);
        let descriptor = push_yaml(yaml, metadata, &self.destination.repository, tag).await?;
        let entry = Entry { digest: descriptor.digest.clone(), content_bytes, conditions };
        self.cache.insert(key, &entry)?;
        Ok(Made { descriptor, content_bytes, source, revision, reused: false })
    }
}

/// Moves work that computes or blocks to a thread that may. Who stops waiting leaves it there.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Error::Stopped),
        },
    }
}
