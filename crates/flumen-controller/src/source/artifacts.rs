//! Artifacts at hand: those that we store, and those that others serve.

use std::{collections::HashMap, sync::Arc};

use flumen_api::Artifact;
use flumen_fs::Tree;
use flumen_oci::Digest;
use flumen_source::{
    Owner, Retention, Storage, StorageError,
    import::{ImportError, ImportOptions, Importer, Remote},
    oci::Registries,
};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::options::SourceOptions;

#[derive(Debug)]
pub(crate) struct Artifacts {
    storage: Arc<Storage>,
    importer: Importer,
    retention: Retention,
    registries: Registries,
    /// What signatures of a source were verified with last, by the identity of the source.
    trusted: Mutex<HashMap<String, u64>>,
}

impl Artifacts {
    pub(crate) fn new(storage: Arc<Storage>, options: &SourceOptions) -> Result<Self, ImportError> {
        let retries = options.http_retries;
        let importer = Importer::new(ImportOptions { retries, ..ImportOptions::default() })?;
        let (registries, trusted) = (Registries::default(), Mutex::default());
        Ok(Self { storage, importer, registries, trusted, retention: options.retention })
    }

    pub(crate) const fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    pub(crate) const fn registries(&self) -> &Registries {
        &self.registries
    }

    /// The files of an artifact, if it is in our storage. One that is damaged there is fetched again, so it is not.
    pub(crate) async fn stored_tree(
        &self,
        artifact: &Artifact,
    ) -> Result<Option<Arc<dyn Tree>>, ArtifactError> {
        let Some(digest) = self.storage.known_as(&artifact.digest) else { return Ok(None) };
        match self.unpacked(digest).await {
            Err(StorageError::Missing { .. } | StorageError::Damaged { .. }) => Ok(None),
            known => Ok(Some(known?)),
        }
    }

    /// The files of the artifact of a source. One that is not in our storage is fetched from where the source says.
    pub(crate) async fn tree(
        &self,
        (kind, namespace, name): (&str, &str, &str),
        artifact: &Artifact,
        now: Timestamp,
    ) -> Result<Arc<dyn Tree>, ArtifactError> {
        if let Some(tree) = self.stored_tree(artifact).await? {
            return Ok(tree);
        }
        // The path in the status is no name to go by: who may write it would choose whose files are replaced here.
        let owner = Owner::new(kind, namespace, name)?;
        let remote = Remote { url: &artifact.url, digest: &artifact.digest, host: None };
        let stored = self.importer.import(remote, &owner, &self.storage).await?;
        let tree = self.unpacked(stored.digest.clone()).await?;
        // Nobody else removes what came before; who still reads it keeps it.
        let current = stored.path.rsplit_once('/').map_or("", |(_, name)| name);
        self.storage.retain(&owner, current, self.retention, now.into())?;
        Ok(tree)
    }

    async fn unpacked(&self, digest: Digest) -> Result<Arc<dyn Tree>, StorageError> {
        let storage = Arc::clone(&self.storage);
        let work = tokio::task::spawn_blocking(move || storage.tree(&digest));
        work.await.unwrap_or_else(|error| Err(StorageError::Archive(error.into())))
    }

    /// Whether signatures of a source were verified with this before.
    pub(super) fn is_trusted(&self, uid: &str, fingerprint: u64) -> bool {
        self.trusted.lock().get(uid) == Some(&fingerprint)
    }

    pub(super) fn trust(&self, uid: &str, fingerprint: u64) {
        self.trusted.lock().insert(uid.to_owned(), fingerprint);
    }

    pub(super) fn forget(&self, uid: &str) {
        self.trusted.lock().remove(uid);
    }
}

/// Why an artifact cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArtifactError {
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl ArtifactError {
    /// It is something else than its source says.
    pub(crate) const fn is_other(&self) -> bool {
        matches!(self, Self::Import(ImportError::DigestMismatch { .. }))
    }

    /// It is not where its source says, and may be there soon.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Import(ImportError::NotFound))
    }
}
