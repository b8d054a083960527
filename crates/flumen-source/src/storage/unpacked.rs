//! The content of artifacts on disk, unpacked once for all who read it.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use flumen_fs::{Bounds, DiskTree, Entry, FsError, Tree, clean};
use flumen_oci::{
    Digest, Hasher,
    artifact::{Budget, extract},
};

use super::{StorageError, at};

/// All directories with unpacked artifacts.
#[derive(Debug)]
pub(super) struct Unpacked {
    directory: PathBuf,
    temporary: PathBuf,
    slots: Mutex<HashMap<Digest, Arc<Slot>>>,
}

/// The place of one artifact.
#[derive(Debug, Default)]
struct Slot {
    /// Locked while it is unpacked, so that the others wait.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tree: Weak<ArtifactTree>,
    /// The artifact is gone; the files go with their last reader.
    is_forgotten: bool,
}

impl Unpacked {
    /// Both directories are empty and on the same file system.
    pub(super) fn new(directory: PathBuf, temporary: PathBuf) -> Arc<Self> {
        Arc::new(Self { directory, temporary, slots: Mutex::default() })
    }

    /// The tree of an artifact; `open` is asked for its bytes if they are needed.
    pub(super) fn tree(
        self: &Arc<Self>,
        digest: &Digest,
        budget: Budget,
        open: impl FnOnce() -> Result<File, StorageError>,
    ) -> Result<Arc<ArtifactTree>, StorageError> {
        let slot = Arc::clone(lock(&self.slots).entry(digest.clone()).or_default());
        let mut state = lock(&slot.state);
        if let Some(tree) = state.tree.upgrade() {
            return Ok(tree);
        }
        let root = self.directory.join(digest.hex());
        if !root.is_dir() {
            let unpacked = open().and_then(|file| self.unpack(digest, &root, budget, file));
            if let Err(error) = unpacked {
                self.remove(digest, &slot);
                return Err(error);
            }
        }
        let tree = Arc::new(ArtifactTree {
            root,
            digest: digest.clone(),
            slot: Arc::clone(&slot),
            all: Arc::clone(self),
        });
        *state = State { tree: Arc::downgrade(&tree), is_forgotten: false };
        Ok(tree)
    }

    /// Removes the files of an artifact now, or when nobody reads them any more.
    pub(super) fn forget(&self, digest: &Digest) {
        let slot = lock(&self.slots).get(digest).map(Arc::clone);
        let Some(slot) = slot else { return };
        let mut state = lock(&slot.state);
        state.is_forgotten = true;
        if state.tree.strong_count() == 0 {
            self.remove(digest, &slot);
        }
    }

    /// Removes the files. The state of the slot is locked, and nobody has the tree.
    fn remove(&self, digest: &Digest, slot: &Arc<Slot>) {
        // What stays behind now is removed at the next start.
        let _ = fs::remove_dir_all(self.directory.join(digest.hex()));
        let mut slots = lock(&self.slots);
        // One is in the map and one with the caller; who has another one waits to use it.
        if Arc::strong_count(slot) <= 2 {
            slots.remove(digest);
        }
    }

    fn unpack(
        &self,
        digest: &Digest,
        root: &Path,
        budget: Budget,
        file: File,
    ) -> Result<(), StorageError> {
        let scratch = tempfile::tempdir_in(&self.temporary).map_err(at(&self.temporary))?;
        let mut archive = Hashing { file, hasher: Hasher::new(digest.algorithm()) };
        let extracted = extract(digest, &mut archive, scratch.path(), budget);
        // What is damaged fails in many ways; that it is damaged says most.
        io::copy(&mut archive, &mut io::sink()).map_err(at(root))?;
        if archive.hasher.finish() != *digest {
            return Err(StorageError::Damaged { digest: digest.clone() });
        }
        extracted?;
        let scratch = scratch.keep();
        fs::rename(&scratch, root).map_err(at(root))
    }
}

/// An artifact that was unpacked. Its root appears as `/`.
#[derive(Debug)]
pub(super) struct ArtifactTree {
    root: PathBuf,
    digest: Digest,
    slot: Arc<Slot>,
    all: Arc<Unpacked>,
}

impl ArtifactTree {
    /// Where a path is on disk. Nothing above the root can be named.
    fn on_disk(&self, path: &Path) -> PathBuf {
        let path = clean(&Path::new("/").join(path)).into_owned();
        self.root.join(path.strip_prefix("/").unwrap_or(&path))
    }

    fn as_asked(&self, path: &Path) -> PathBuf {
        Path::new("/").join(path.strip_prefix(&self.root).unwrap_or(path))
    }

    /// The same error with paths as they are asked for.
    fn error(&self, error: FsError) -> FsError {
        let path = self.as_asked(error.path());
        match error {
            FsError::NotFound { .. } => FsError::NotFound { path },
            FsError::IsDirectory { .. } => FsError::IsDirectory { path },
            FsError::NotDirectory { .. } => FsError::NotDirectory { path },
            FsError::Outside { real, root, .. } => {
                FsError::Outside { path, real: self.as_asked(&real), root: self.as_asked(&root) }
            }
            FsError::NotRegular { .. } => FsError::NotRegular { path },
            FsError::TooLarge { limit, .. } => FsError::TooLarge { path, limit },
            FsError::Loop { .. } => FsError::Loop { path },
            FsError::Denied { .. } => FsError::Denied { path },
            FsError::Io { source, .. } => FsError::Io { path, source },
            FsError::Unwritable { source, .. } => FsError::Unwritable { path, source },
        }
    }
}

impl Tree for ArtifactTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let real = DiskTree.real_dir(&self.on_disk(path)).map_err(|error| self.error(error))?;
        Ok(self.as_asked(&real))
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let bounds = match bounds {
            Bounds::Anywhere => self.root.clone(),
            Bounds::Within(root) => self.on_disk(root),
        };
        DiskTree
            .read(&self.on_disk(path), Bounds::Within(&bounds))
            .map_err(|error| self.error(error))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        DiskTree.list(&self.on_disk(dir)).map_err(|error| self.error(error))
    }

    fn entries(&self, dir: &Path) -> Result<Vec<Entry>, FsError> {
        DiskTree.entries(&self.on_disk(dir)).map_err(|error| self.error(error))
    }
}

impl Drop for ArtifactTree {
    fn drop(&mut self) {
        let state = lock(&self.slot.state);
        // Somebody may have asked for it again meanwhile.
        if state.is_forgotten && state.tree.strong_count() == 0 {
            self.all.remove(&self.digest, &self.slot);
        }
    }
}

/// Hashes what is read.
struct Hashing {
    file: File,
    hasher: Hasher,
}

impl io::Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves at most a directory in `temp`, and a slot that says nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
