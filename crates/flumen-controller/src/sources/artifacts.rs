//! Artifacts at hand: those that we store, and those that others serve.

use std::sync::Arc;

use flumen_api::Artifact;
use flumen_fs::Tree;
use flumen_source::{
    Owner, Storage, StorageError,
    import::{ImportError, ImportOptions, Importer, Remote},
};

#[derive(Debug)]
pub(crate) struct Artifacts {
    storage: Arc<Storage>,
    importer: Importer,
}

impl Artifacts {
    pub(crate) fn new(storage: Arc<Storage>) -> Result<Self, ImportError> {
        Ok(Self { storage, importer: Importer::new(ImportOptions::default())? })
    }

    pub(crate) const fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The files of an artifact. One that is not in our storage is fetched from where its source says.
    pub(crate) async fn tree(&self, artifact: &Artifact) -> Result<Arc<dyn Tree>, ArtifactError> {
        if let Ok(digest) = artifact.digest.parse() {
            match self.storage.tree(&digest) {
                Err(StorageError::Missing { .. }) => {}
                known => return Ok(known?),
            }
        }
        let owner = Owner::new("external", "artifacts", "imported")?;
        let remote = Remote { url: &artifact.url, digest: &artifact.digest, host: None };
        let stored = self.importer.import(remote, &owner, &self.storage).await?;
        Ok(self.storage.tree(&stored.digest)?)
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
    /// It is not where its source says, and may be there soon.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Import(ImportError::NotFound))
    }
}
