//! Blobs and which repository holds them.

use std::{fs::File, time::SystemTime};

use tempfile::TempPath;

use super::{
    Refusal, Reserved, Store, StoreError,
    batch::Batch,
    rows::{BLOBS, LINKS, Rows, USES, key, prefix},
};
use crate::{digest::Digest, name::RepositoryName};

/// A blob that is open for reading.
#[derive(Debug)]
pub(crate) struct BlobContent {
    pub(crate) file: File,
    pub(crate) size: u64,
}

impl Store {
    /// The size of a blob that the repository holds.
    pub(crate) async fn blob_size(
        &self,
        repository: &RepositoryName,
        digest: &Digest,
    ) -> Result<Option<u64>, StoreError> {
        let (repository, digest) = (repository.clone(), digest.clone());
        self.read(move |view| size_in(view, &repository, &digest)).await
    }

    pub(crate) async fn open_blob(
        &self,
        repository: &RepositoryName,
        digest: &Digest,
    ) -> Result<Option<BlobContent>, StoreError> {
        let (repository, digest) = (repository.clone(), digest.clone());
        let path = self.files.blob(&digest);
        self.read(move |view| {
            let Some(size) = size_in(view, &repository, &digest)? else { return Ok(None) };
            match File::open(path) {
                Ok(file) => Ok(Some(BlobContent { file, size })),
                // Collected since the view was taken.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(redb::Error::Io(error)),
            }
        })
        .await
    }

    /// Adds content to a repository. The file must be complete and flushed.
    pub(crate) async fn add_blob(
        &self,
        repository: &RepositoryName,
        digest: &Digest,
        size: u64,
        content: TempPath,
        reserved: Reserved,
    ) -> Result<(), StoreError> {
        let (repository, digest) = (repository.clone(), digest.clone());
        let added = self.change(move |batch| {
            let is_new = !batch.contains(BLOBS, digest.as_str())?;
            if is_new {
                batch.doomed.remove(&digest);
                batch.files.name(content, &digest)?;
                batch.named.insert(digest.algorithm());
                batch.insert(BLOBS, digest.as_str(), &size.to_le_bytes())?;
            }
            link(batch, &repository, &digest)?;
            Ok(Ok(is_new))
        });
        if added.await? == Ok(true) {
            reserved.keep();
        }
        Ok(())
    }

    /// Lets a repository hold a blob that another one holds.
    pub(crate) async fn mount_blob(
        &self,
        repository: &RepositoryName,
        from: &RepositoryName,
        digest: &Digest,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let (repository, from, digest) = (repository.clone(), from.clone(), digest.clone());
        self.change(move |batch| {
            if !batch.contains(LINKS, &key([digest.as_str(), from.as_str()]))? {
                return Ok(Err(Refusal::BlobUnknown));
            }
            link(batch, &repository, &digest)?;
            Ok(Ok(()))
        })
        .await
    }

    /// Takes a blob from a repository, unless a manifest there would become incomplete.
    pub(crate) async fn delete_blob(
        &self,
        repository: &RepositoryName,
        digest: &Digest,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let (repository, digest) = (repository.clone(), digest.clone());
        self.change(move |batch| {
            if !batch.contains(LINKS, &key([digest.as_str(), repository.as_str()]))? {
                return Ok(Err(Refusal::BlobUnknown));
            }
            if batch.any(USES, &prefix([repository.as_str(), digest.as_str()]))? {
                return Ok(Err(Refusal::BlobInUse));
            }
            unlink(batch, repository.as_str(), &digest)?;
            Ok(Ok(()))
        })
        .await
    }
}

fn size_in(
    rows: &impl Rows,
    repository: &RepositoryName,
    digest: &Digest,
) -> Result<Option<u64>, redb::Error> {
    if !rows.contains(LINKS, &key([digest.as_str(), repository.as_str()]))? {
        return Ok(None);
    }
    let size = rows.get(BLOBS, digest.as_str())?;
    Ok(size.and_then(|bytes| number(&bytes)))
}

/// Rows hold numbers as eight bytes.
pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}

pub(super) fn seconds_now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0, |age| age.as_secs())
}

fn link(
    batch: &mut Batch<'_>,
    repository: &RepositoryName,
    digest: &Digest,
) -> Result<(), redb::Error> {
    let key = key([digest.as_str(), repository.as_str()]);
    batch.insert(LINKS, &key, &seconds_now().to_le_bytes())
}

/// Takes a blob from a repository; the last one takes the content along.
pub(super) fn unlink(
    batch: &mut Batch<'_>,
    repository: &str,
    digest: &Digest,
) -> Result<(), redb::Error> {
    batch.remove(LINKS, &key([digest.as_str(), repository]))?;
    if !batch.any(LINKS, &prefix([digest.as_str()]))? {
        let size = batch.get(BLOBS, digest.as_str())?.and_then(|bytes| number(&bytes));
        batch.remove(BLOBS, digest.as_str())?;
        batch.doomed.insert(digest.clone(), size.unwrap_or(0));
    }
    Ok(())
}
