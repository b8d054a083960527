//! What the registry holds: rows in a database, blobs in files.
//!
//! Readers look at a [`View`], the state after some commit. All changes go through one writer
//! thread that commits many at once, so that the cost of reaching the disk is shared. The writer
//! is also the only one that gives blob files their names and takes them away; a file therefore
//! never vanishes under a change that counts on it.

mod batch;
mod blobs;
mod database;
mod error;
mod files;
mod garbage;
mod manifests;
mod rows;
mod space;
mod writer;

use std::{path::Path, sync::Arc};

pub(crate) use blobs::BlobContent;
pub(crate) use error::{StoreError, is_full};
pub(crate) use files::Files;
pub use garbage::Collected;
pub(crate) use manifests::StoredManifest;
pub(crate) use space::{Full, Reserved, Space};

use crate::{Error, Limits, Result};
use batch::Batch;
use database::Database;
use rows::View;
use writer::Writer;

const DATABASE: &str = "registry.redb";

/// Asked for something that is not there, or to do what would leave something incomplete.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    BlobUnknown,
    /// A manifest of the repository names the blob.
    BlobInUse,
    ManifestUnknown,
    RepositoryUnknown,
    /// The manifest names content that the repository does not have.
    ContentMissing(String),
}

#[derive(Debug)]
pub(crate) struct Store {
    files: Arc<Files>,
    space: Arc<Space>,
    database: Arc<Database>,
    writer: Writer,
}

impl Store {
    /// Opens the directory, or makes it. What a crash left half done is removed.
    pub(crate) fn open(data: &Path, limits: &Limits) -> Result<Self> {
        let files = Arc::new(Files::open(data)?);
        let path = data.join(DATABASE);
        let failed = |source: redb::Error| match source {
            redb::Error::DatabaseAlreadyOpen => Error::InUse { path: data.to_owned() },
            source => Error::Database { path: path.clone(), source: Box::new(source) },
        };
        let database = Arc::new(Database::open(&path, &files).map_err(failed)?);
        let used = garbage::sweep(&database, &files)?;
        let space = Arc::new(Space::new(data.to_owned(), limits, used));
        let writer = Writer::start(Arc::clone(&database), Arc::clone(&files), Arc::clone(&space))?;
        Ok(Self { files, space, database, writer })
    }

    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }

    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Releases the directory while others still have the store; whatever they ask then fails.
    pub(crate) async fn close(&self) {
        let database = Arc::clone(&self.database);
        let _ = tokio::task::spawn_blocking(move || database.close()).await;
    }

    /// Runs a query on a thread that may wait for the disk.
    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&View) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let database = Arc::clone(&self.database);
        match tokio::task::spawn_blocking(move || database.read(query)).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(StoreError::Stopped),
        }
    }

    /// Makes a change and returns when it is committed.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Batch<'_>) -> Result<Result<T, Refusal>, StoreError> + Send + 'static,
    ) -> Result<Result<T, Refusal>, StoreError> {
        self.writer.submit(change).await
    }
}
