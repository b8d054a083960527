//! What all passes share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flumen_api::{ExternalArtifact, GitRepository, Kustomization, OciRepository};
use flumen_diff::Takeover;
use flumen_expr::LabelSelector;
use flumen_kube::Client;

use crate::{
    Key, Kind, Options,
    cache::{Definitions, Depended, Owned, Reflected},
    events::Recorder,
    index::Index,
    kustomization::{contest::Contests, memory::Memory, providers::Providers},
    metrics::Metrics,
    moved::Meanwhile,
    queue::Queue,
    sources::{Artifacts, local::LocalSources},
};

pub(crate) struct Controller {
    pub(crate) client: Client,
    pub(crate) options: Options,
    /// Which objects are left to us.
    pub(crate) selector: LabelSelector,
    pub(crate) queue: Queue,
    pub(crate) kustomizations: Arc<Reflected<Kustomization>>,
    pub(crate) git_repositories: Arc<Reflected<GitRepository>>,
    pub(crate) oci_repositories: Arc<Reflected<OciRepository>>,
    pub(crate) external_artifacts: Arc<Reflected<ExternalArtifact>>,
    /// Who refers to what.
    pub(crate) index: Mutex<Index>,
    /// When kinds begin to be served.
    pub(crate) definitions: Arc<Definitions>,
    /// What is depended on, beside Kustomizations.
    pub(crate) depended: Arc<Depended>,
    /// Who delivers which kind.
    pub(crate) providers: Providers,
    /// What others change back.
    pub(crate) contests: Contests,
    /// What has moved during passes that are under way.
    pub(crate) meanwhile: Meanwhile,
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
    pub(crate) metrics: Metrics,
}

impl Controller {
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the caches know what there is.
    pub(crate) async fn until_known(&self) {
        self.kustomizations.until_known().await;
        self.git_repositories.until_known().await;
        self.oci_repositories.until_known().await;
        self.external_artifacts.until_known().await;
    }

    /// Whether the caches know what there is.
    pub(crate) fn is_known(&self) -> bool {
        self.kustomizations.is_known()
            && self.git_repositories.is_known()
            && self.oci_repositories.is_known()
            && self.external_artifacts.is_known()
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, key: &Key) {
        self.queue.forget(key);
        self.metrics.forget(key);
    }

    /// Whether an object is left to us. One that is gone is: it has to be forgotten.
    pub(crate) fn serves(&self, key: &Key) -> bool {
        let selector = &self.selector;
        let (namespace, name) = (&key.namespace, &key.name);
        selector.is_empty()
            || match key.kind {
                Kind::GitRepository => self.git_repositories.matches(namespace, name, selector),
                Kind::OciRepository => self.oci_repositories.matches(namespace, name, selector),
                Kind::ExternalArtifact => {
                    self.external_artifacts.matches(namespace, name, selector)
                }
                Kind::Kustomization => self.kustomizations.matches(namespace, name, selector),
            }
    }

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
