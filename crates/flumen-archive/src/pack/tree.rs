//! Packs files of a [`Tree`].

use std::{
    io,
    path::{Path, PathBuf},
};

use flumen_fs::{Bounds, EntryKind, Tree};

use crate::{ArchiveWriter, Budget, GIT_DIRECTORY, Ignore, PackError, limits::MAX_DEPTH};

/// Modes that Flux gives to everything that it archives.
const PLAIN: u32 = 0o600;
const EXECUTABLE: u32 = 0o700;
const DIRECTORY: u32 = 0o750;

/// A directory of a tree, with all below it.
#[derive(Clone, Copy, Debug)]
pub struct Files<'t> {
    pub tree: &'t dyn Tree,
    pub root: &'t Path,
}

/// Adds files to an archive, except those that are ignored.
pub fn pack_tree<W: io::Write>(
    files: Files<'_>,
    ignore: &Ignore,
    budget: Budget,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), PackError> {
    let root = files.tree.real_dir(files.root)?;
    writer.directory(Path::new("."), DIRECTORY)?;
    let mut walk = Walk {
        files: Files { root: &root, ..files },
        ignore,
        keeps_looking: ignore.takes_back(),
        budget,
        writer,
    };
    walk.directory(&mut Vec::new())
}

struct Walk<'a, W: io::Write> {
    files: Files<'a>,
    ignore: &'a Ignore,
    /// Whether something below an ignored directory may be wanted.
    keeps_looking: bool,
    /// What is left of it.
    budget: Budget,
    writer: &'a mut ArchiveWriter<W>,
}

impl<W: io::Write> Walk<'_, W> {
    /// Adds the content of a directory; `names` lead to it.
    fn directory(&mut self, names: &mut Vec<String>) -> Result<(), PackError> {
        if names.len() >= MAX_DEPTH {
            return Err(PackError::TooDeep { path: names.join("/") });
        }
        let here: PathBuf = names.iter().collect();
        for entry in self.files.tree.entries(&self.files.root.join(&here))? {
            let is_directory = match entry.kind {
                EntryKind::Directory => true,
                EntryKind::File { .. } => false,
                EntryKind::Other => continue,
            };
            self.budget.files = self.budget.files.checked_sub(1).ok_or(PackError::TooLarge)?;
            names.push(entry.name);
            let parts: Vec<&str> = names.iter().map(String::as_str).collect();
            let is_ignored = self.ignore.ignores(&parts, is_directory);
            let path: PathBuf = names.iter().collect();
            match entry.kind {
                EntryKind::Directory => {
                    if !is_ignored {
                        self.writer.directory(&path, DIRECTORY)?;
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

    fn file(&mut self, path: &Path, mode: u32) -> Result<(), PackError> {
        let Files { tree, root } = self.files;
        let content = tree.read(&root.join(path), Bounds::Within(root))?;
        let size = content.len() as u64;
        self.budget.bytes = self.budget.bytes.checked_sub(size).ok_or(PackError::TooLarge)?;
        Ok(self.writer.file(path, mode, &content)?)
    }
}

fn is_git_directory(names: &[String]) -> bool {
    names.last().is_some_and(|name| name == GIT_DIRECTORY)
}
