//! Sources: what they name is fetched, verified and stored.
//!
//! [`reconciler`] is the reconciliation of a source of any kind; what is particular to a kind is its [`Source`], in a file of
//! its own. [`local`] serves a source from a directory of this machine instead.

mod artifacts;
mod git;
pub(crate) mod local;
mod oci;
mod reconciler;

use std::sync::Arc;

use flumen_api::{
    Artifact, ExternalArtifact, GitRepository, Kind, Kustomization, OciRepository, SourceKind,
};
use flumen_runtime::{Changed, Key, KindInfo, Manager, Read, Runtime, Store};
use flumen_source::{Storage, import::ImportError};

use self::local::LocalSources;
pub(crate) use self::{artifacts::Artifacts, reconciler::SourceReconciler};
use crate::{EXTERNAL_ARTIFACT, GIT_REPOSITORY, OCI_REPOSITORY, options::SourceOptions};

/// A kind whose objects offer an artifact.
trait Offers: Kind {
    fn offered(&self) -> Option<&Artifact>;
}

macro_rules! offers {
    ($($kind:ty),*) => {
        $(impl Offers for $kind {
            fn offered(&self) -> Option<&Artifact> {
                self.status.artifact.as_ref()
            }
        })*
    };
}
offers!(GitRepository, OciRepository, ExternalArtifact);

/// What all sources share, and what is known of them.
pub(crate) struct Sources {
    pub(crate) options: SourceOptions,
    pub(crate) artifacts: Artifacts,
    pub(super) runtime: Arc<Runtime>,
    pub(super) git_repositories: Arc<Store<GitRepository>>,
    oci_repositories: Arc<Store<OciRepository>>,
    external_artifacts: Arc<Store<ExternalArtifact>>,
    /// Sources that a directory of this machine stands for.
    directories: LocalSources,
}

/// What a source offers.
#[derive(Debug)]
pub(crate) enum Offered {
    /// The source does not exist.
    Missing,
    Malformed(String),
    /// There is no artifact yet.
    Nothing,
    Artifact(Artifact),
}

impl Sources {
    pub(crate) fn new(
        manager: &mut Manager,
        options: SourceOptions,
        directories: LocalSources,
        storage: &Arc<Storage>,
    ) -> Result<Self, ImportError> {
        Ok(Self {
            artifacts: Artifacts::new(storage.clone(), &options)?,
            runtime: manager.runtime().clone(),
            git_repositories: manager.store(&GIT_REPOSITORY),
            oci_repositories: manager.store(&OCI_REPOSITORY),
            external_artifacts: manager.store(&EXTERNAL_ARTIFACT),
            directories,
            options,
        })
    }

    pub(crate) fn offered(&self, source: &Key) -> Offered {
        let (namespace, name) = (&source.namespace, &source.name);
        if *source.kind == GIT_REPOSITORY {
            offered(self.git_repositories.get(namespace, name))
        } else if *source.kind == OCI_REPOSITORY {
            offered(self.oci_repositories.get(namespace, name))
        } else {
            offered(self.external_artifacts.get(namespace, name))
        }
    }

    /// Whether this controller fetches the artifacts of a source.
    pub(crate) fn is_fetched_here(&self, source: &Key) -> bool {
        let (namespace, name) = (&source.namespace, &source.name);
        let is_active = if *source.kind == GIT_REPOSITORY {
            let found = self.git_repositories.get(namespace, name);
            matches!(found, Some(Ok(source)) if !source.spec.suspend)
        } else if *source.kind == OCI_REPOSITORY {
            let found = self.oci_repositories.get(namespace, name);
            matches!(found, Some(Ok(source)) if !source.spec.suspend)
        } else {
            false
        };
        is_active && self.is_selected(source)
    }

    /// Whether a source has the labels of the objects that this controller reconciles.
    fn is_selected(&self, source: &Key) -> bool {
        let (namespace, name) = (&source.namespace, &source.name);
        if *source.kind == GIT_REPOSITORY {
            self.runtime.selects(&self.git_repositories, namespace, name)
        } else {
            self.runtime.selects(&self.oci_repositories, namespace, name)
        }
    }

    /// Returns the URL under which others fetch an artifact with this path.
    fn artifact_url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.options.advertised_host)
    }
}

/// Returns the source of a Kustomization, if its kind is supported.
pub(crate) fn source_of(object: &Kustomization) -> Option<Key> {
    let kind: &'static KindInfo = match object.spec.source_ref.kind {
        SourceKind::GitRepository => &GIT_REPOSITORY,
        SourceKind::OciRepository => &OCI_REPOSITORY,
        SourceKind::ExternalArtifact => &EXTERNAL_ARTIFACT,
        SourceKind::Bucket => return None,
    };
    Some(Key::new(kind, object.source_namespace(), &object.spec.source_ref.name))
}

fn offered<K: Offers>(found: Option<Read<K>>) -> Offered {
    match found {
        None => Offered::Missing,
        Some(Err(malformed)) => Offered::Malformed(malformed.to_string()),
        Some(Ok(source)) => source.offered().cloned().map_or(Offered::Nothing, Offered::Artifact),
    }
}

/// Returns the artifacts of a source before and after a change.
pub(crate) fn artifacts_of<'c>(
    changed: &Changed<'c>,
) -> Option<(Option<&'c Artifact>, Option<&'c Artifact>)> {
    fn of<'c, K: Offers>(
        changed: &Changed<'c>,
    ) -> Option<(Option<&'c Artifact>, Option<&'c Artifact>)> {
        let change = changed.states::<K>()?;
        Some((change.former().and_then(K::offered), change.present().and_then(K::offered)))
    }
    of::<GitRepository>(changed)
        .or_else(|| of::<OciRepository>(changed))
        .or_else(|| of::<ExternalArtifact>(changed))
}
