//! The files of a commit.

use std::{
    fmt, io,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use flumen_fs::{Bounds, FsError, MAX_FILE_SIZE, Tree, clean};
use gix::{
    ObjectId,
    objs::{Kind, TreeRefIter, tree::EntryKind},
};
use rustc_hash::FxHashMap;

use crate::{error::chain, objects::Objects};

/// As many links as Linux follows before it calls a path a loop.
const MAX_LINKS: usize = 40;

/// Longer targets of links are refused, as Linux refuses them.
const MAX_TARGET_SIZE: u64 = 4096;

/// The files of a commit, read from the object database when they are asked for.
///
/// They appear below a root that names repository and commit. Nothing leads out of it: neither `..`
/// nor a symbolic link.
pub(crate) struct GitTree {
    root: PathBuf,
    top: ObjectId,
    state: Mutex<State>,
}

struct State {
    objects: Objects,
    /// Directories that were looked at.
    directories: FxHashMap<ObjectId, Arc<Directory>>,
    /// How many more entries of directories may be looked at.
    entries_left: u32,
    entries_limit: u32,
}

/// By name.
type Directory = std::collections::BTreeMap<String, Entry>;

#[derive(Clone, Copy)]
struct Entry {
    kind: EntryKind,
    id: ObjectId,
}

/// What a path leads to, after every link.
struct Resolved {
    real: PathBuf,
    entry: Entry,
}

impl GitTree {
    pub(crate) fn new(root: PathBuf, top: ObjectId, objects: Objects, max_entries: u32) -> Self {
        let state = State {
            objects,
            directories: FxHashMap::default(),
            entries_left: max_entries,
            entries_limit: max_entries,
        };
        Self { root, top, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a path below the root.
    fn resolve(&self, state: &mut State, path: &Path) -> Result<Resolved, FsError> {
        let asked = clean(path).into_owned();
        let outside = |real: &Path| FsError::Outside {
            path: asked.clone(),
            real: real.to_owned(),
            root: self.root.clone(),
        };
        let below = asked.strip_prefix(&self.root).map_err(|_| outside(&asked))?;

        let top = Entry { kind: EntryKind::Tree, id: self.top };
        let mut walked: Vec<(String, Entry)> = Vec::new();
        // Names still to walk, next one last.
        let mut ahead = names(below);
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                if walked.pop().is_none() {
                    return Err(outside(Path::new("..")));
                }
                continue;
            }
            let here = walked.last().map_or(top, |(_, entry)| *entry);
            let entry = match here.kind {
                EntryKind::Tree => state.directory(&here.id, &asked)?.get(&name).copied(),
                EntryKind::Commit => return Err(submodule(&asked)),
                _ => return Err(FsError::NotDirectory { path: asked }),
            };
            let entry = entry.ok_or_else(|| FsError::NotFound { path: asked.clone() })?;
            if entry.kind != EntryKind::Link {
                walked.push((name, entry));
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(FsError::Loop { path: asked });
            }
            let target = PathBuf::from(state.link(&entry.id, &asked)?);
            if target.is_absolute() {
                return Err(outside(&target));
            }
            ahead.extend(names(&target));
        }
        let entry = walked.last().map_or(top, |(_, entry)| *entry);
        let real = walked.iter().fold(self.root.clone(), |path, (name, _)| path.join(name));
        Ok(Resolved { real, entry })
    }

    fn resolve_directory(&self, state: &mut State, path: &Path) -> Result<Resolved, FsError> {
        let resolved = self.resolve(state, path)?;
        match resolved.entry.kind {
            EntryKind::Tree => Ok(resolved),
            EntryKind::Commit => Err(submodule(path)),
            _ => Err(FsError::NotDirectory { path: path.to_owned() }),
        }
    }
}

impl State {
    fn directory(&mut self, id: &ObjectId, path: &Path) -> Result<Arc<Directory>, FsError> {
        if let Some(directory) = self.directories.get(id) {
            return Ok(Arc::clone(directory));
        }
        let bytes = self.objects.read(id, Kind::Tree).map_err(|reason| broken(path, reason))?;
        let mut directory = Directory::new();
        for entry in TreeRefIter::from_bytes(&bytes, id.kind()) {
            let entry = entry.map_err(|error| broken(path, chain(&error)))?;
            self.entries_left = self
                .entries_left
                .checked_sub(1)
                .ok_or_else(|| broken(path, format!("more than {} entries", self.entries_limit)))?;
            let entry_id = entry.oid.to_owned();
            let name = entry.filename.to_string();
            directory.insert(name, Entry { kind: entry.mode.kind(), id: entry_id });
        }
        let directory = Arc::new(directory);
        self.directories.insert(*id, Arc::clone(&directory));
        Ok(directory)
    }

    fn file(&self, id: &ObjectId, path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
        let size = self.objects.size(id).map_err(|reason| broken(path, reason))?;
        if size > limit {
            return Err(FsError::TooLarge { path: path.to_owned(), limit });
        }
        self.objects.read(id, Kind::Blob).map_err(|reason| broken(path, reason))
    }

    fn link(&self, id: &ObjectId, path: &Path) -> Result<String, FsError> {
        let target = self.file(id, path, MAX_TARGET_SIZE)?;
        String::from_utf8(target).map_err(|_| broken(path, "a link to a name that is no text"))
    }
}

impl Tree for GitTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        Ok(self.resolve_directory(&mut self.state(), path)?.real)
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let mut state = self.state();
        let Resolved { real, entry } = self.resolve(&mut state, path)?;
        match entry.kind {
            EntryKind::Blob | EntryKind::BlobExecutable => {}
            _ => return Err(FsError::IsDirectory { path: path.to_owned() }),
        }
        bounds.check(path, &real)?;
        state.file(&entry.id, path, MAX_FILE_SIZE)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let mut state = self.state();
        let resolved = self.resolve_directory(&mut state, dir)?;
        let directory = state.directory(&resolved.entry.id, dir)?;
        Ok(directory.keys().cloned().collect())
    }

    fn entries(&self, dir: &Path) -> Result<Vec<flumen_fs::Entry>, FsError> {
        let mut state = self.state();
        let resolved = self.resolve_directory(&mut state, dir)?;
        let directory = state.directory(&resolved.entry.id, dir)?;
        let entry = |(name, entry): (&String, &Entry)| {
            let kind = match entry.kind {
                EntryKind::Tree => flumen_fs::EntryKind::Directory,
                EntryKind::Blob => flumen_fs::EntryKind::File { is_executable: false },
                EntryKind::BlobExecutable => flumen_fs::EntryKind::File { is_executable: true },
                EntryKind::Link | EntryKind::Commit => flumen_fs::EntryKind::Other,
            };
            flumen_fs::Entry { name: name.clone(), kind }
        };
        Ok(directory.iter().map(entry).collect())
    }
}

impl fmt::Debug for GitTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitTree").field("root", &self.root).finish_non_exhaustive()
    }
}

fn broken(path: &Path, reason: impl Into<String>) -> FsError {
    FsError::Io { path: path.to_owned(), source: io::Error::other(reason.into()) }
}

fn submodule(path: &Path) -> FsError {
    broken(path, "a submodule, whose files are not fetched")
}

/// The names a path goes through, last one first.
fn names(path: &Path) -> Vec<String> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            Component::ParentDir => Some("..".to_owned()),
            _ => None,
        })
        .collect()
}
