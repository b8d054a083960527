//! `GitRepository`: a commit of a Git repository.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use flumen_api::{
    Artifact, ConditionStatus, GitRepository, Kind as _, LocalReference, condition,
    delete_condition, modern_revision, set_condition,
};
use flumen_archive::{Budget, Files, Ignore};
use flumen_fs::Tree;
use flumen_git::Limits;
use flumen_runtime::{Failure, ReferenceError, Requeue, Severity, secret};
use flumen_source::{
    Storage, Stored,
    git::{GitError, GitFetch, GitSecrets, GitSource, Include, include},
};
use tokio::task::spawn_blocking;

use super::{
    Sources,
    reconciler::{
        BUILDING, FETCH_FAILED, INCLUDE_UNAVAILABLE, Produced, STORAGE_FAILED, SUCCEEDED, Source,
        Step, VERIFIED, failed, owner, stalled,
    },
};

impl Source for GitRepository {
    fn artifact(&self) -> Option<&Artifact> {
        self.status.artifact.as_ref()
    }

    fn set_artifact(&mut self, artifact: Option<Artifact>) {
        self.status.artifact = artifact;
    }

    fn interval(&self) -> Duration {
        self.spec.interval.0
    }

    fn ignore(&self) -> Option<&str> {
        self.spec.ignore.as_deref()
    }

    async fn produce(
        &mut self,
        sources: &Sources,
        step: &Step<'_, Self>,
    ) -> Result<Produced, Failure> {
        // A failed verification is judged anew; a successful one stays until the next.
        if condition(self, VERIFIED).is_some_and(|it| it.status == ConditionStatus::False) {
            delete_condition(self, VERIFIED);
        }
        let secrets = secrets(sources, self).await?;
        let limits = limits(sources.artifacts.storage().budget());
        let source = GitSource::new(self, &secrets, &limits, &sources.options.ssh_algorithms)
            .map_err(|error| failure(&error))?;
        let included = included(sources, self)?;
        let artifacts: Vec<Artifact> =
            included.iter().map(|(_, artifact)| artifact.clone()).collect();
        let settings_hold = self.status.observed_ignore == self.spec.ignore
            && self.status.observed_include == self.spec.include
            && self.status.observed_recurse_submodules == self.spec.recurse_submodules
            && self.status.observed_sparse_checkout == self.spec.sparse_checkout
            && digests(&self.status.included_artifacts) == digests(&artifacts)
            && is_verified(self, sources, &secrets);
        if let Some(known) = &self.status.artifact
            && settings_hold
        {
            let revision = source.resolve().await.map_err(|error| failure(&error))?;
            if modern_revision(&known.revision) == revision {
                let note =
                    format!("no changes since last reconciliation: observed revision '{revision}'");
                let news = format!("stored artifact for commit '{revision}'");
                return Ok(Produced::Unchanged { reason: "GitOperationSucceeded", note, news });
            }
        }
        let fetched = source.fetch().await.map_err(|error| failure(&error))?;
        let revision = fetched.revision.clone();
        step.set(format!("{BUILDING}: new upstream revision '{revision}'"));
        verify(self, step, &source, &fetched)?;
        sources.artifacts.trust(&self.metadata.uid, secrets.keys_fingerprint());
        let subject = fetched.subject();
        let mut parts = Vec::new();
        for (mut part, artifact) in included {
            let source = (Self::KIND, self.metadata.namespace.as_str(), part.name.as_str());
            let tree = sources.artifacts.tree(source, &artifact, step.now()).await;
            part.tree = tree.map_err(|error| {
                failure(&GitError::IncludeCopy {
                    name: part.name.clone(),
                    from: part.from.clone(),
                    to: part.to.clone(),
                    reason: error.to_string(),
                })
            })?;
            parts.push(part);
        }
        let stored = store(sources, self, fetched, parts).await?;
        self.status.observed_ignore.clone_from(&self.spec.ignore);
        self.status.observed_include.clone_from(&self.spec.include);
        self.status.observed_recurse_submodules = self.spec.recurse_submodules;
        self.status.observed_sparse_checkout.clone_from(&self.spec.sparse_checkout);
        self.status.included_artifacts = artifacts;
        self.status.source_verification_mode = self.spec.verify.as_ref().map(|it| it.mode);
        Ok(Produced::New {
            news: format!("stored artifact for commit '{subject}'"),
            artifact: Artifact {
                url: sources.artifact_url(&stored.path),
                path: stored.path,
                revision,
                digest: stored.digest.to_string(),
                last_update_time: step.now(),
                size: i64::try_from(stored.size).ok(),
                metadata: std::collections::BTreeMap::new(),
            },
        })
    }
}

fn digests(artifacts: &[Artifact]) -> Vec<&str> {
    artifacts.iter().map(|artifact| artifact.digest.as_str()).collect()
}

/// Whether the stored artifact passed the verification that is asked for now, with the keys of now.
fn is_verified(object: &GitRepository, sources: &Sources, secrets: &GitSecrets) -> bool {
    match (&object.spec.verify, condition(object, VERIFIED)) {
        (None, verified) => verified.is_none(),
        (Some(_), None) => false,
        (Some(_), Some(verified)) => {
            let uid = &object.metadata.uid;
            verified.status == ConditionStatus::True
                && verified.observed_generation == object.metadata.generation
                && sources.artifacts.is_trusted(uid, secrets.keys_fingerprint())
        }
    }
}

fn verify(
    object: &mut GitRepository,
    step: &Step<'_, GitRepository>,
    source: &GitSource,
    fetched: &GitFetch,
) -> Result<(), Failure> {
    match source.verify(fetched, SystemTime::now()) {
        None => {
            delete_condition(object, VERIFIED);
            Ok(())
        }
        Some(Ok(verified)) => {
            let (now, text) = (step.now(), verified.text);
            set_condition(object, VERIFIED, ConditionStatus::True, SUCCEEDED, &text, now);
            step.post(Severity::Info, SUCCEEDED, &text);
            Ok(())
        }
        Some(Err(error)) => Err(Failure { condition: Some(VERIFIED), ..failure(&error) }),
    }
}

/// The artifacts that are put into the repository's, with where they go.
fn included(
    sources: &Sources,
    object: &GitRepository,
) -> Result<Vec<(Include, Artifact)>, Failure> {
    let namespace = &object.metadata.namespace;
    let unavailable = |reason, message: String| Failure {
        condition: Some(INCLUDE_UNAVAILABLE),
        requeue: Requeue::After(sources.runtime.options.requeue_dependency),
        ..Failure::waiting(reason, message)
    };
    let mut included = Vec::new();
    for part in &object.spec.include {
        let name = &part.repository.name;
        let Some(Ok(there)) = sources.git_repositories.get(namespace, name) else {
            let group = <GitRepository as flumen_api::Kind>::GROUP;
            let missing = format!("GitRepository.{group} \"{name}\" not found");
            let message = format!("could not get resource for include '{name}': {missing}");
            return Err(unavailable("NotFound", message));
        };
        let Some(artifact) = there.status.artifact.clone() else {
            let message = format!("no artifact available for include '{name}'");
            return Err(unavailable("NoArtifact", message));
        };
        let include = Include {
            name: name.clone(),
            tree: Arc::new(flumen_fs::MemoryTree::default()),
            from: part.from_path.clone().unwrap_or_default(),
            to: part.to_path().to_owned(),
        };
        included.push((include, artifact));
    }
    Ok(included)
}

/// Puts the files into the storage, on a thread that may be busy.
async fn store(
    sources: &Sources,
    object: &GitRepository,
    fetched: GitFetch,
    parts: Vec<Include>,
) -> Result<Stored, Failure> {
    let owner = owner(object)?;
    let storage: Arc<Storage> = sources.artifacts.storage().clone();
    let spec_ignore = object.spec.ignore.clone();
    let stored = spawn_blocking(move || {
        let checkout = fetched.checkout;
        let tree: Arc<dyn Tree> =
            include(checkout.tree, &checkout.root, parts).map_err(|error| failure(&error))?;
        let files = Files { tree: tree.as_ref(), root: &checkout.root };
        let not_stored = |error: flumen_source::StorageError| {
            let message = format!("unable to archive artifact to storage: {error}");
            failed(STORAGE_FAILED, "ArchiveOperationFailed", message)
        };
        let rules = Ignore::of_source(files, spec_ignore.as_deref());
        let rules = rules.map_err(|error| not_stored(error.into()))?;
        let file = format!("{}.tar.gz", checkout.commit);
        storage.put(&owner, &file, files, &rules).map_err(not_stored)
    });
    stored.await.unwrap_or_else(|_| Err(failure(&GitError::Interrupted)))
}

/// Reads the Secrets that a repository names. What is missing is told as Flux tells it of each of them.
async fn secrets(sources: &Sources, object: &GitRepository) -> Result<GitSecrets, Failure> {
    let (spec, namespace) = (&object.spec, &object.metadata.namespace);
    let read = async |name: &str| secret(&sources.runtime.client, namespace, name).await;
    let mut secrets = GitSecrets::default();
    if let Some(LocalReference { name }) = &spec.proxy_secret_ref {
        let proxy = read(name).await.map_err(|error| {
            let place = format!("secret '{namespace}/{name}'");
            failure(&GitError::Proxy(match error {
                ReferenceError::NotFound(..) => format!("{place} not found"),
                error @ ReferenceError::Cluster(_) => format!("failed to get {place}: {error}"),
            }))
        });
        secrets.proxy = Some(proxy?);
    }
    if let Some(LocalReference { name }) = &spec.secret_ref {
        let credentials = read(name).await.map_err(|error| {
            // Flux says it twice.
            let doing = format!("failed to get secret '{namespace}/{name}'");
            failed(FETCH_FAILED, "AuthenticationFailed", format!("{doing}: {doing}: {error}"))
        });
        secrets.credentials = Some(credentials?);
    }
    if let Some(LocalReference { name }) = spec.verify.as_ref().map(|it| &it.secret_ref) {
        let keys = read(name).await.map_err(|error| {
            let message = format!("public keys secret error: {error}");
            failed(VERIFIED, "VerificationError", message)
        });
        secrets.keys = Some(keys?);
    }
    Ok(secrets)
}

/// What a repository may cost. Directories, and files that do not get into the artifact, are fetched, too.
fn limits(budget: Budget) -> Limits {
    let objects = budget.files.saturating_mul(5);
    Limits {
        bytes: budget.bytes,
        objects: u32::try_from(objects).unwrap_or(u32::MAX),
        ..Limits::default()
    }
}

fn failure(error: &GitError) -> Failure {
    let condition = match error {
        GitError::IncludePath { .. } | GitError::IncludeCopy { .. } => STORAGE_FAILED,
        _ => FETCH_FAILED,
    };
    let message = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    let report = if error.is_stalling() { stalled } else { failed };
    report(condition, error.reason(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_may_cost_what_an_artifact_may_hold_and_more() {
        let limits = limits(Budget { bytes: 1 << 30, files: 200_000 });
        assert_eq!((limits.bytes, limits.objects), (1 << 30, 1_000_000));
        assert_eq!(super::limits(Budget { bytes: 1, files: u64::MAX }).objects, u32::MAX);
    }
}
