//! All files of a commit at once, for those who keep them elsewhere.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use flumen_fs::{Bounds, FsError};
use gix::objs::tree::EntryKind;

use crate::Checkout;

/// Something in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Below the root of the tree.
    pub path: PathBuf,
    pub kind: FileKind,
}

/// What something in a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Also a submodule that was not fetched: an empty one.
    Directory,
    File,
    Executable,
    Link,
}

impl Checkout {
    /// What is in the tree: directories before what is in them, names in the order of their bytes.
    pub fn entries(&self) -> Result<Vec<FileEntry>, FsError> {
        let entries = self.files.walk()?.into_iter().map(|(path, kind)| {
            let kind = match kind {
                EntryKind::Tree | EntryKind::Commit => FileKind::Directory,
                EntryKind::Blob => FileKind::File,
                EntryKind::BlobExecutable => FileKind::Executable,
                EntryKind::Link => FileKind::Link,
            };
            FileEntry { path, kind }
        });
        Ok(entries.collect())
    }

    /// The content of a file at a path below the root.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        self.tree.read(&self.root.join(path), Bounds::Within(&self.root))
    }

    /// Writes the files into an empty directory. Links are left out: what they lead to need not be
    /// there, and nothing may be written through them.
    pub fn write_to(&self, directory: &Path) -> Result<(), FsError> {
        for entry in self.entries()? {
            let place = directory.join(&entry.path);
            let failed = |source: io::Error| FsError::Io { path: place.clone(), source };
            match entry.kind {
                FileKind::Directory => fs::create_dir(&place).map_err(failed)?,
                FileKind::File | FileKind::Executable => {
                    fs::write(&place, self.read(&entry.path)?).map_err(failed)?;
                    if entry.kind == FileKind::Executable {
                        make_executable(&place).map_err(failed)?;
                    }
                }
                FileKind::Link => {}
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = fs::metadata(path)?.permissions().mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o111))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
