//! OCIRepository: an artifact in a registry.

use std::{sync::Arc, time::Duration};

use flumen_api::{Artifact, OciRepository};
use flumen_oci::{
    Reference, Registry, Repository,
    artifact::{PullOptions, pull_to_dir},
};
use flumen_source::Files;
use jiff::Timestamp;

use super::pass::{Failure, Produced, Source, owner};
use crate::{Controller, cache::Reflected};

impl Source for OciRepository {
    fn artifact(&self) -> Option<&Artifact> {
        self.status.artifact.as_ref()
    }

    fn set_artifact(&mut self, artifact: Option<Artifact>) {
        self.status.artifact = artifact;
    }

    fn interval(&self) -> Duration {
        self.spec.interval.0
    }

    fn is_suspended(&self) -> bool {
        self.spec.suspend
    }

    fn observed_generation_mut(&mut self) -> &mut i64 {
        &mut self.status.observed_generation
    }

    fn last_handled_mut(&mut self) -> &mut Option<String> {
        &mut self.status.last_handled_reconcile_at
    }

    fn reflected(controller: &Controller) -> &Arc<Reflected<Self>> {
        &controller.oci_repositories
    }

    async fn produce(
        &mut self,
        controller: &Controller,
        step: &mut String,
    ) -> Result<Produced, Failure> {
        let url = self.spec.url.clone();
        let name = url.strip_prefix("oci://").unwrap_or(&url);
        let tag = self.spec.r#ref.as_ref().and_then(|it| it.tag.clone());
        let tag = tag.unwrap_or_else(|| "latest".to_owned());
        let reference = Reference::from_name(&format!("{name}:{tag}"))
            .map_err(|error| Failure::stalling("URLInvalid", error.to_string()))?;
        let (host, path) = name.split_once('/').unwrap_or((name, ""));
        let mut options = flumen_oci::ClientOptions::default();
        options.insecure = true;
        let failed = |error: flumen_oci::Error| {
            let message = format!("failed to determine artifact digest: {error}");
            Failure::fetching("OCIArtifactPullFailed", message)
        };
        let registry = Registry::new(host, &options).map_err(failed)?;
        let repository = Repository::from(registry.repository(path));
        let found = repository.resolve(&reference.target()).await.map_err(failed)?;
        let revision = format!("{tag}@{}", found.digest);
        if self.status.artifact.as_ref().is_some_and(|known| known.revision == revision) {
            return Ok(Produced::Unchanged);
        }
        *step = format!("building artifact: new revision '{revision}' for '{name}:{tag}'");
        let scratch = tempfile::tempdir().map_err(|error| Failure::fetching("x", error.to_string()))?;
        let pulled =
            pull_to_dir(&repository, &reference.target(), scratch.path(), &PullOptions::default())
                .await
                .map_err(failed)?;
        let _ = pulled;
        let owner = owner(self)?;
        let file = format!("{}.tar.gz", found.digest);
        let ignore = flumen_oci::artifact::Ignore::default();
        let stored = controller
            .artifacts
            .storage()
            .put(&owner, &file, Files { tree: &flumen_fs::DiskTree, root: scratch.path() }, &ignore)
            .map_err(|error| Failure::fetching("x", error.to_string()))?;
        let host = &controller.options.advertised_host;
        Ok(Produced::New {
            news: format!("stored artifact with revision '{revision}' from '{url}'"),
            artifact: Artifact {
                url: format!("http://{host}/{}", stored.path),
                path: stored.path,
                revision,
                digest: stored.digest.to_string(),
                last_update_time: Timestamp::now(),
                size: i64::try_from(stored.size).ok(),
                metadata: Default::default(),
            },
        })
    }
}
