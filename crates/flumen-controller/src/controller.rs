//! What all passes share.

use std::sync::Arc;

use flumen_api::{ExternalArtifact, GitRepository, Kustomization, OciRepository};
use flumen_diff::Takeover;
use flumen_kube::Client;

use crate::{
    Key, Kind, Options,
    cache::{Owned, Reflected},
    events::Recorder,
    kustomization::memory::Memory,
    queue::Queue,
    sources::{Artifacts, local::LocalSources},
};

pub(crate) struct Controller {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) queue: Queue,
    pub(crate) kustomizations: Arc<Reflected<Kustomization>>,
    pub(crate) git_repositories: Arc<Reflected<GitRepository>>,
    pub(crate) oci_repositories: Arc<Reflected<OciRepository>>,
    pub(crate) external_artifacts: Arc<Reflected<ExternalArtifact>>,
    /// What is applied.
    pub(crate) owned: Arc<Owned>,
    /// What earlier passes have left.
    pub(crate) memory: Memory,
    pub(crate) artifacts: Artifacts,
    /// Sources that a directory of this machine stands for.
    pub(crate) local_sources: LocalSources,
    /// Whose fields become ours.
    pub(crate) takeover: Takeover,
    pub(crate) kustomize_events: Recorder,
    pub(crate) source_events: Recorder,
}

impl Controller {
    /// Whether an object is there.
    pub(crate) fn knows(&self, key: &Key) -> bool {
        let (namespace, name) = (&key.namespace, &key.name);
        match key.kind {
            Kind::GitRepository => self.git_repositories.get(namespace, name).is_some(),
            Kind::OciRepository => self.oci_repositories.get(namespace, name).is_some(),
            Kind::ExternalArtifact => self.external_artifacts.get(namespace, name).is_some(),
            Kind::Kustomization => self.kustomizations.get(namespace, name).is_some(),
        }
    }

    /// Where others fetch an artifact that is published under this path.
    pub(crate) fn artifact_url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.options.advertised_host)
    }
}
