//! A tree held in memory, for tests and for archives that are never unpacked.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use crate::{Bounds, EntryKind, FsError, Tree, clean::clean};

/// As many links as Linux follows before it calls a path a loop.
const MAX_LINKS: usize = 40;

/// Files, directories and symbolic links below `/`.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    /// By clean absolute path; every parent of an entry is an entry too, except `/`.
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Debug)]
enum Entry {
    Dir,
    File(Vec<u8>),
    Link(PathBuf),
}

impl MemoryTree {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file, and makes the directories above it.
    pub fn insert_file(&mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.insert(path.as_ref(), Entry::File(content.into()));
    }

    /// Adds a symbolic link; `target` is absolute or relative to the directory of the link.
    pub fn insert_link(&mut self, path: impl AsRef<Path>, target: impl Into<PathBuf>) {
        self.insert(path.as_ref(), Entry::Link(target.into()));
    }

    pub fn insert_dir(&mut self, path: impl AsRef<Path>) {
        self.insert(path.as_ref(), Entry::Dir);
    }

    fn insert(&mut self, path: &Path, entry: Entry) {
        let path = absolute(path);
        for parent in path.ancestors().skip(1).filter(|dir| dir.parent().is_some()) {
            self.entries.entry(parent.to_owned()).or_insert(Entry::Dir);
        }
        if path.parent().is_some() {
            self.entries.insert(path, entry);
        }
    }

    /// Follows every link; `None` as the entry is the root directory.
    fn resolve(&self, path: &Path) -> Result<(PathBuf, Option<&Entry>), FsError> {
        let asked = absolute(path);
        // Names still to walk, next one last.
        let mut ahead = names(&asked);
        let mut real = PathBuf::from("/");
        let mut entry = None;
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                real.pop();
                entry = self.entries.get(&real);
                continue;
            }
            if !matches!(entry, None | Some(Entry::Dir)) {
                return Err(FsError::NotDirectory { path: asked });
            }
            real.push(&name);
            let Some(found) = self.entries.get(&real) else {
                return Err(FsError::NotFound { path: asked });
            };
            if let Entry::Link(target) = found {
                links += 1;
                if links > MAX_LINKS {
                    return Err(FsError::Loop { path: asked });
                }
                real.pop();
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                entry = self.entries.get(&real);
                ahead.extend(names(target));
            } else {
                entry = Some(found);
            }
        }
        Ok((real, entry))
    }
}

impl Tree for MemoryTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        match self.resolve(path)? {
            (real, None | Some(Entry::Dir)) => Ok(real),
            _ => Err(FsError::NotDirectory { path: absolute(path) }),
        }
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let (real, entry) = self.resolve(path)?;
        let Some(Entry::File(content)) = entry else {
            return Err(FsError::IsDirectory { path: absolute(path) });
        };
        bounds.check(&absolute(path), &real)?;
        Ok(content.clone())
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let real = self.real_dir(dir)?;
        let mut names = Vec::new();
        for path in self.entries.range(real.clone()..).map(|(path, _)| path) {
            if !path.starts_with(&real) {
                break;
            }
            if path.parent() == Some(&real)
                && let Some(name) = path.file_name()
            {
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn entries(&self, dir: &Path) -> Result<Vec<crate::Entry>, FsError> {
        let real = self.real_dir(dir)?;
        let entry = |name: String| {
            let kind = match self.entries.get(&real.join(&name)) {
                Some(Entry::Dir) => EntryKind::Directory,
                Some(Entry::File(_)) => EntryKind::File { is_executable: false },
                _ => EntryKind::Other,
            };
            crate::Entry { name, kind }
        };
        Ok(self.list(dir)?.into_iter().map(entry).collect())
    }
}

fn absolute(path: &Path) -> PathBuf {
    clean(&Path::new("/").join(path)).into_owned()
}

/// The names a path goes through, last one first.
fn names(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}
