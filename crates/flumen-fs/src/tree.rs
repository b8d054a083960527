//! What a build asks of the place its files are in.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::FsError;

/// Bigger files are refused: no manifest is, and a sparse file costs its author nothing.
pub const MAX_FILE_SIZE: u64 = 256 << 20;

/// A file tree that builds read from.
pub trait Tree: Send + Sync + fmt::Debug {
    /// The real path of an existing directory: absolute, clean, symbolic links resolved.
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError>;

    /// The content of a regular file of at most [`MAX_FILE_SIZE`].
    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError>;

    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError>;

    /// What is in a directory, sorted by name. Links are not followed.
    ///
    /// A tree without links and programs needs no implementation of its own.
    fn entries(&self, dir: &Path) -> Result<Vec<Entry>, FsError> {
        let entry = |name: String| match self.real_dir(&dir.join(&name)) {
            Ok(_) => Ok(Entry { name, kind: EntryKind::Directory }),
            Err(FsError::NotDirectory { .. }) => {
                Ok(Entry { name, kind: EntryKind::File { is_executable: false } })
            }
            Err(error) => Err(error),
        };
        self.list(dir)?.into_iter().map(entry).collect()
    }
}

/// A name in a directory, and what is behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File {
        is_executable: bool,
    },
    /// A link, a pipe, a device: nothing with a content of its own.
    Other,
}

/// Where the file that a path leads to may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds<'a> {
    Anywhere,
    /// In or below a directory, given by its real path (see [`Tree::real_dir`]).
    Within(&'a Path),
}

impl Bounds<'_> {
    /// Fails unless the real path that `path` leads to lies inside.
    pub fn check(self, path: &Path, real: &Path) -> Result<(), FsError> {
        match self {
            Bounds::Within(root) if !real.starts_with(root) => Err(FsError::Outside {
                path: path.to_owned(),
                real: real.to_owned(),
                root: root.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}
