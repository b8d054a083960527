//! The files of artifacts, unpacked once for all who read them.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_archive::{
    Budget, Contents, ContentsIndex, ContentsTree, Meter, Rules, UnpackOptions, unpack,
};
use flumen_oci::{Digest, Hasher};
use parking_lot::{Mutex, MutexGuard};
use tempfile::NamedTempFile;

use super::{StorageError, at};

/// All artifacts that are unpacked.
#[derive(Debug)]
pub(super) struct Unpacked {
    directory: PathBuf,
    temporary: PathBuf,
    slots: Mutex<HashMap<Digest, Arc<Slot>>>,
}

/// Where the files of one artifact are. Locked while it is unpacked, so that the others wait.
type Slot = Mutex<Option<Arc<ContentsIndex>>>;

impl Unpacked {
    /// Both directories are empty and on the same file system.
    pub(super) fn new(directory: PathBuf, temporary: PathBuf) -> Self {
        Self { directory, temporary, slots: Mutex::default() }
    }

    /// The files of an artifact; `open` is asked for its bytes if they are needed.
    ///
    /// Who has the tree can read it for as long as he likes, even if the artifact is forgotten meanwhile.
    pub(super) fn tree(
        &self,
        digest: &Digest,
        budget: Budget,
        open: impl FnOnce() -> Result<File, StorageError>,
    ) -> Result<ContentsTree<File>, StorageError> {
        let slot = Arc::clone(lock(&self.slots).entry(digest.clone()).or_default());
        let mut known = lock(&slot);
        let path = self.path(digest);
        if let Some(index) = &*known
            && let Ok(file) = File::open(&path)
        {
            return Ok(ContentsTree::new(Arc::clone(index), file));
        }
        let unpacked = open().and_then(|archive| self.unpack(digest, &path, budget, archive));
        match &unpacked {
            Ok(tree) => *known = Some(Arc::clone(tree.index())),
            Err(_) => drop(lock(&self.slots).remove(digest)),
        }
        unpacked
    }

    /// Removes the files of an artifact.
    pub(super) fn forget(&self, digest: &Digest) {
        let Some(slot) = lock(&self.slots).remove(digest) else { return };
        // Who unpacks it right now is waited for, so that nothing stays.
        let _unpacking = lock(&slot);
        // What stays nevertheless is removed at the next start.
        let _ = fs::remove_file(self.path(digest));
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(digest.hex())
    }

    fn unpack(
        &self,
        digest: &Digest,
        path: &Path,
        budget: Budget,
        file: File,
    ) -> Result<ContentsTree<File>, StorageError> {
        let unfinished = NamedTempFile::new_in(&self.temporary).map_err(at(&self.temporary))?;
        let mut contents = Contents::new(unfinished.reopen().map_err(at(path))?);
        let mut archive = Hashing { file, hasher: Hasher::new(digest.algorithm()) };
        let name = format!("layer {digest}");
        let options = UnpackOptions::gzip(&name, Rules::Flux);
        let result = unpack(&mut archive, &options, &mut Meter::new(budget), &mut contents);
        // What is damaged fails in many ways; that it is damaged says most.
        io::copy(&mut archive, &mut io::sink()).map_err(at(path))?;
        if archive.hasher.finish() != *digest {
            return Err(StorageError::Damaged { digest: digest.clone() });
        }
        result?;
        let tree = contents.finish().map_err(at(path))?;
        unfinished.persist(path).map_err(|error| at(path)(error.error))?;
        Ok(tree)
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
    // A panic leaves at most a file in `temp`, and a slot that says nothing.
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use flumen_archive::{ArchiveWriter, Gzip};
    use flumen_fs::{Bounds, Tree as _};

    use super::*;

    const BUDGET: Budget = Budget { bytes: 1 << 20, files: 10 };

    #[test]
    fn who_asks_while_it_is_unpacked_waits() {
        let mut writer = ArchiveWriter::new(Gzip::new(Vec::new()));
        writer.file(Path::new("a.yaml"), 0o600, b"a: 1").expect("written");
        let archive = writer.finish().and_then(Gzip::finish).expect("written");
        let digest = Digest::of(&archive);
        let place = tempfile::tempdir().expect("a directory");
        let (trees, temporary) = (place.path().join("trees"), place.path().join("temp"));
        for directory in [&trees, &temporary] {
            fs::create_dir(directory).expect("a directory");
        }
        let blob = place.path().join("blob");
        fs::write(&blob, archive).expect("written");

        let unpacked = Unpacked::new(trees.clone(), temporary);
        let (opened, barrier) = (AtomicUsize::new(0), Barrier::new(8));
        let ask = || {
            barrier.wait();
            let open = || {
                opened.fetch_add(1, Ordering::Relaxed);
                File::open(&blob).map_err(at(&blob))
            };
            let tree = unpacked.tree(&digest, BUDGET, open).expect("unpacked");
            tree.read(Path::new("/a.yaml"), Bounds::Anywhere).expect("a file")
        };
        thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            for one in asking {
                assert_eq!(one.join().expect("asked"), b"a: 1");
            }
        });
        assert_eq!(opened.into_inner(), 1);
        unpacked.forget(&digest);
        assert_eq!(fs::read_dir(trees).expect("a directory").count(), 0);
    }
}
