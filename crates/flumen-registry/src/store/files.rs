//! Blobs and unfinished uploads as files.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempPath};

use super::StoreError;
use crate::{
    Error, Result,
    digest::{Algorithm, Digest},
};

const BLOBS: &str = "blobs";
const UPLOADS: &str = "uploads";

#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn open(root: &Path) -> Result<Self> {
        let files = Self { root: root.to_owned() };
        for algorithm in Algorithm::ALL {
            create(&files.blobs(algorithm))?;
        }
        create(&files.uploads())?;
        Ok(files)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn uploads(&self) -> PathBuf {
        self.root.join(UPLOADS)
    }

    fn blobs(&self, algorithm: Algorithm) -> PathBuf {
        self.root.join(BLOBS).join(algorithm.name())
    }

    pub(super) fn blob(&self, digest: &Digest) -> PathBuf {
        self.blobs(digest.algorithm()).join(digest.hex())
    }

    /// A file for an upload, which vanishes unless it becomes a blob.
    pub(crate) fn temporary(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(self.uploads())
    }

    /// Gives a finished upload its name. Its content must have reached the disk.
    pub(super) fn name(&self, content: TempPath, digest: &Digest) -> Result<(), StoreError> {
        let path = self.blob(digest);
        content.persist(&path).map_err(|error| StoreError::File { path, source: error.error })
    }

    /// Makes names that were given survive a loss of power.
    pub(super) fn sync_names(&self, algorithm: Algorithm) -> Result<(), StoreError> {
        let path = self.blobs(algorithm);
        File::open(&path)
            .and_then(|directory| directory.sync_all())
            .map_err(|source| StoreError::File { path, source })
    }

    /// A file that stays is harmless: the next start removes what no row names.
    pub(super) fn remove(&self, digest: &Digest) {
        let _ = fs::remove_file(self.blob(digest));
    }

    /// Removes what a dead process was uploading.
    pub(super) fn remove_uploads(&self) -> Result<()> {
        let path = self.uploads();
        for name in names(&path)? {
            let file = path.join(name);
            fs::remove_file(&file).map_err(|source| Error::Storage {
                action: "remove",
                path: file,
                source,
            })?;
        }
        Ok(())
    }

    /// Every blob that has a file.
    pub(super) fn digests(&self) -> Result<Vec<Digest>> {
        let mut digests = Vec::new();
        for algorithm in Algorithm::ALL {
            for name in names(&self.blobs(algorithm))? {
                let text = format!("{}:{name}", algorithm.name());
                // Someone else's files are not ours to judge.
                digests.extend(text.parse::<Digest>());
            }
        }
        Ok(digests)
    }
}

fn create(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| Error::Storage {
        action: "create",
        path: path.to_owned(),
        source,
    })
}

fn names(directory: &Path) -> Result<Vec<String>> {
    let failed = |source| Error::Storage { action: "list", path: directory.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    Ok(names)
}
