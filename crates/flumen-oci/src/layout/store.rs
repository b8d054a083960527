//! The two forms of a layout behind one set of verbs.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempPath;

use super::{
    archive::Archive,
    directory::{self, Directory},
    extent::Extent,
    index::LayoutIndex,
};
use crate::{Descriptor, Digest, Result};

#[derive(Debug)]
pub(super) enum Store {
    Directory(Directory),
    Archive(Archive),
}

/// Content on its way in: invisible until [`Store::commit`].
pub(super) struct Incoming {
    /// Stands where the content begins.
    pub(super) file: File,
    pub(super) place: Place,
}

pub(super) enum Place {
    /// A file that will be renamed.
    Temporary { path: TempPath, target: PathBuf },
    /// A part of the archive that is being written.
    Reserved { path: PathBuf },
}

impl Place {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary { path, .. } => path,
            Self::Reserved { path } => path,
        }
    }
}

impl Store {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory.root(),
            Self::Archive(archive) => archive.path(),
        }
    }

    /// The index as it is now; nobody waits for whoever looks at it.
    pub(super) fn index(&self) -> Result<Arc<LayoutIndex>> {
        match self {
            Self::Directory(directory) => directory.index(),
            Self::Archive(archive) => Ok(archive.index()),
        }
    }

    pub(super) fn update<T>(&self, change: impl FnOnce(&mut LayoutIndex) -> T) -> Result<T> {
        match self {
            Self::Directory(directory) => directory.update(change),
            Self::Archive(archive) => archive.update(change),
        }
    }

    pub(super) fn locate(&self, digest: &Digest) -> Result<Option<Extent>> {
        match self {
            Self::Directory(directory) => directory.locate(digest),
            Self::Archive(archive) => Ok(archive.locate(digest)),
        }
    }

    /// Whether content is here and may be relied on by what is put next.
    pub(super) fn keep(&self, descriptor: &Descriptor) -> Result<bool> {
        match self {
            Self::Directory(directory) => directory.keep(descriptor),
            Self::Archive(archive) => {
                let extent = archive.locate(&descriptor.digest);
                Ok(extent.is_some_and(|extent| extent.size == descriptor.size))
            }
        }
    }

    pub(super) fn begin(&self, descriptor: &Descriptor) -> Result<Incoming> {
        match self {
            Self::Directory(directory) => directory.begin(&descriptor.digest),
            Self::Archive(archive) => archive.begin(descriptor),
        }
    }

    /// Makes content visible that is complete.
    pub(super) fn commit(&self, content: Incoming, digest: &Digest) -> Result<()> {
        if let Place::Temporary { path, target } = content.place {
            directory::persist(&content.file, path, &target)?;
        }
        if let Self::Archive(archive) = self {
            archive.commit(digest);
        }
        Ok(())
    }
}
