//! The files of a commit.

use std::{
    fmt, io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{Bounds, FsError, MAX_FILE_SIZE, Tree, clean};
use gix::{
    ObjectId,
    objs::{Kind, TreeRefIter, tree::EntryKind},
};
use parking_lot::{Mutex, MutexGuard};
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
    /// Only what is below these is there; everything if there are none.
    selected: Vec<PathBuf>,
    top: Entry,
    state: Mutex<State>,
}

struct State {
    contents: Contents,
    /// Directories that were looked at.
    directories: FxHashMap<(usize, ObjectId), Arc<Directory>>,
    /// How many more entries of directories may be looked at.
    entries_left: u32,
    entries_limit: u32,
}

/// The objects of a repository and of its submodules.
pub(crate) struct Contents {
    stores: Vec<Objects>,
    top: Entry,
    /// The trees of submodules by their commits, which name their content wherever they appear.
    modules: FxHashMap<ObjectId, Entry>,
}

/// By name.
pub(crate) type Directory = std::collections::BTreeMap<String, Entry>;

#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
    /// Which of the stores has it.
    store: usize,
}

/// What a path leads to, after every link.
struct Resolved {
    real: PathBuf,
    entry: Entry,
}

impl Contents {
    pub(crate) fn new(objects: Objects, tree: ObjectId) -> Self {
        let top = Entry { kind: EntryKind::Tree, id: tree, store: 0 };
        Self { stores: vec![objects], top, modules: FxHashMap::default() }
    }

    pub(crate) fn top(&self) -> Entry {
        self.top
    }

    pub(crate) fn has_module(&self, commit: &ObjectId) -> bool {
        self.modules.contains_key(commit)
    }

    /// Adds the files of a submodule.
    pub(crate) fn add_module(
        &mut self,
        commit: ObjectId,
        objects: Objects,
        tree: ObjectId,
    ) -> Entry {
        let top = Entry { kind: EntryKind::Tree, id: tree, store: self.stores.len() };
        self.stores.push(objects);
        self.modules.insert(commit, top);
        top
    }

    /// The entries of a directory. Names that are no names of files are refused: whoever writes
    /// them somewhere would write somewhere else.
    pub(crate) fn directory(&self, entry: &Entry) -> Result<Directory, String> {
        let bytes = self.stores[entry.store].read(&entry.id, Kind::Tree)?;
        let mut directory = Directory::new();
        for found in TreeRefIter::from_bytes(&bytes, entry.id.kind()) {
            let found = found.map_err(|error| chain(&error))?;
            let name = found.filename.to_string();
            if matches!(name.as_str(), "" | "." | "..") || name.contains(['/', '\0']) {
                return Err(format!("an entry of object {} has no proper name", entry.id));
            }
            let here =
                Entry { kind: found.mode.kind(), id: found.oid.to_owned(), store: entry.store };
            let module = self.modules.get(&here.id).filter(|_| here.kind == EntryKind::Commit);
            directory.insert(name, module.copied().unwrap_or(here));
        }
        Ok(directory)
    }

    pub(crate) fn size(&self, entry: &Entry) -> Result<u64, String> {
        self.stores[entry.store].size(&entry.id)
    }

    pub(crate) fn file(&self, entry: &Entry) -> Result<Vec<u8>, String> {
        self.stores[entry.store].read(&entry.id, Kind::Blob)
    }
}

impl GitTree {
    pub(crate) fn new(
        root: PathBuf,
        contents: Contents,
        directories: &[PathBuf],
        max_entries: u32,
    ) -> Self {
        let top = contents.top();
        let state = State {
            contents,
            directories: FxHashMap::default(),
            entries_left: max_entries,
            entries_limit: max_entries,
        };
        let selected = directories.iter().map(|directory| selected(directory)).collect();
        Self { root, selected, top, state: Mutex::new(state) }
    }

    /// Whether there is anything at a path below the root.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.resolve(&mut self.state(), &self.root.join(selected(path))).is_ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whether a path below the root is selected, or leads to what is.
    fn shows(&self, below: &Path) -> bool {
        self.selected.is_empty()
            || self.selected.iter().any(|it| below.starts_with(it) || it.starts_with(below))
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

        let mut walked: Vec<(PathBuf, Entry)> = Vec::new();
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
            let (place, here) = match walked.last() {
                Some((place, entry)) => (place.join(&name), *entry),
                None => (PathBuf::from(&name), self.top),
            };
            let entry = match here.kind {
                EntryKind::Tree => state.directory(&here, &asked)?.get(&name).copied(),
                EntryKind::Commit => return Err(submodule(&asked)),
                _ => return Err(FsError::NotDirectory { path: asked }),
            };
            let entry = entry
                .filter(|_| self.shows(&place))
                .ok_or_else(|| FsError::NotFound { path: asked.clone() })?;
            if entry.kind != EntryKind::Link {
                walked.push((place, entry));
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(FsError::Loop { path: asked });
            }
            let target = PathBuf::from(state.link(&entry, &asked)?);
            if target.is_absolute() {
                return Err(outside(&target));
            }
            ahead.extend(names(&target));
        }
        Ok(match walked.pop() {
            Some((place, entry)) => Resolved { real: self.root.join(place), entry },
            None => Resolved { real: self.root.clone(), entry: self.top },
        })
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
    fn directory(&mut self, entry: &Entry, path: &Path) -> Result<Arc<Directory>, FsError> {
        let key = (entry.store, entry.id);
        if let Some(directory) = self.directories.get(&key) {
            return Ok(Arc::clone(directory));
        }
        let directory = self.contents.directory(entry).map_err(|reason| broken(path, reason))?;
        self.entries_left = u32::try_from(directory.len())
            .ok()
            .and_then(|count| self.entries_left.checked_sub(count))
            .ok_or_else(|| broken(path, format!("more than {} entries", self.entries_limit)))?;
        let directory = Arc::new(directory);
        self.directories.insert(key, Arc::clone(&directory));
        Ok(directory)
    }

    fn file(&self, entry: &Entry, path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
        let size = self.contents.size(entry).map_err(|reason| broken(path, reason))?;
        if size > limit {
            return Err(FsError::TooLarge { path: path.to_owned(), limit });
        }
        self.contents.file(entry).map_err(|reason| broken(path, reason))
    }

    fn link(&self, entry: &Entry, path: &Path) -> Result<String, FsError> {
        let target = self.file(entry, path, MAX_TARGET_SIZE)?;
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
        state.file(&entry, path, MAX_FILE_SIZE)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let mut state = self.state();
        let resolved = self.resolve_directory(&mut state, dir)?;
        let directory = state.directory(&resolved.entry, dir)?;
        let below = resolved.real.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let shown = directory.keys().filter(|name| self.shows(&below.join(name)));
        Ok(shown.cloned().collect())
    }

    fn entries(&self, dir: &Path) -> Result<Vec<flumen_fs::Entry>, FsError> {
        let mut state = self.state();
        let resolved = self.resolve(&mut state, dir)?;
        let directory = match resolved.entry.kind {
            EntryKind::Tree => state.directory(&resolved.entry, dir)?,
            // Where a submodule was not fetched, Git leaves an empty directory.
            EntryKind::Commit => return Ok(Vec::new()),
            _ => return Err(FsError::NotDirectory { path: dir.to_owned() }),
        };
        let entry = |(name, entry): (&String, &Entry)| {
            let kind = match entry.kind {
                EntryKind::Tree | EntryKind::Commit => flumen_fs::EntryKind::Directory,
                EntryKind::Blob => flumen_fs::EntryKind::File { is_executable: false },
                EntryKind::BlobExecutable => flumen_fs::EntryKind::File { is_executable: true },
                EntryKind::Link => flumen_fs::EntryKind::Other,
            };
            flumen_fs::Entry { name: name.clone(), kind }
        };
        let below = resolved.real.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let shown = directory.iter().filter(|(name, _)| self.shows(&below.join(name)));
        Ok(shown.map(entry).collect())
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

/// A directory as people write it (`./a/`) as a path below the root.
pub(crate) fn selected(directory: &Path) -> PathBuf {
    let mut path: PathBuf = names(directory).into_iter().rev().collect();
    if path.as_os_str() == "." {
        path.clear();
    }
    path
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
