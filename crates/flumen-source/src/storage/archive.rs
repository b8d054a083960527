//! From a tree of files to an archive.

use std::{
    io,
    path::{Path, PathBuf},
};

use flumen_fs::{Bounds, EntryKind, Tree};
use flumen_oci::artifact::{ArchiveWriter, Budget, Gzip, Ignore};

use super::StorageError;
use crate::ignore::GIT_DIRECTORY;

/// What Flux gives to everything that it archives.
const PLAIN: u32 = 0o600;
const EXECUTABLE: u32 = 0o700;
const DIRECTORY: u32 = 0o750;

/// As deep as the reader allows.
const MAX_DEPTH: usize = 100;

/// What is archived: a directory of a tree, with all below it.
#[derive(Clone, Copy, Debug)]
pub struct Files<'t> {
    pub tree: &'t dyn Tree,
    pub root: &'t Path,
}

/// Writes an archive that is the same for the same content, whoever writes it.
pub(super) fn write<W: io::Write>(
    files: Files<'_>,
    ignore: &Ignore,
    budget: Budget,
    into: W,
) -> Result<W, StorageError> {
    let root = files.tree.real_dir(files.root)?;
    let mut walk = Walk {
        files: Files { root: &root, ..files },
        ignore,
        keeps_looking: ignore.takes_back(),
        budget,
        writer: ArchiveWriter::new(Gzip::new(into)),
    };
    walk.writer.directory(Path::new("."), DIRECTORY).map_err(StorageError::Archive)?;
    walk.directory(&mut Vec::new())?;
    walk.writer.finish().and_then(Gzip::finish).map_err(StorageError::Archive)
}

struct Walk<'a, W: io::Write> {
    files: Files<'a>,
    ignore: &'a Ignore,
    /// Whether something below an ignored directory may be wanted.
    keeps_looking: bool,
    /// What is left of it.
    budget: Budget,
    writer: ArchiveWriter<Gzip<W>>,
}

impl<W: io::Write> Walk<'_, W> {
    /// Adds what is in a directory; `names` lead to it.
    fn directory(&mut self, names: &mut Vec<String>) -> Result<(), StorageError> {
        if names.len() >= MAX_DEPTH {
            return Err(StorageError::TooDeep { path: names.join("/") });
        }
        let here: PathBuf = names.iter().collect();
        for entry in self.files.tree.entries(&self.files.root.join(&here))? {
            let is_directory = match entry.kind {
                EntryKind::Directory => true,
                EntryKind::File { .. } => false,
                EntryKind::Other => continue,
            };
            self.budget.files = self.budget.files.checked_sub(1).ok_or(StorageError::TooLarge)?;
            names.push(entry.name);
            let parts: Vec<&str> = names.iter().map(String::as_str).collect();
            let is_ignored = self.ignore.ignores(&parts, is_directory);
            let path: PathBuf = names.iter().collect();
            match entry.kind {
                EntryKind::Directory => {
                    if !is_ignored {
                        self.writer.directory(&path, DIRECTORY).map_err(StorageError::Archive)?;
                    }
                    // A repository's own directory is large, and no rule takes back what is in it.
                    let may_have_more = self.keeps_looking && !is_git_directory(names);
                    if !is_ignored || may_have_more {
                        self.directory(names)?;
                    }
                }
                EntryKind::File { is_executable } if !is_ignored => {
                    self.file(&path, if is_executable { EXECUTABLE } else { PLAIN })?;
                }
                EntryKind::File { .. } | EntryKind::Other => {}
            }
            names.pop();
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, mode: u32) -> Result<(), StorageError> {
        let Files { tree, root } = self.files;
        let content = tree.read(&root.join(path), Bounds::Within(root))?;
        let size = content.len() as u64;
        self.budget.bytes = self.budget.bytes.checked_sub(size).ok_or(StorageError::TooLarge)?;
        self.writer.file(path, mode, &content).map_err(StorageError::Archive)
    }
}

fn is_git_directory(names: &[String]) -> bool {
    names.last().is_some_and(|name| name == GIT_DIRECTORY)
}
