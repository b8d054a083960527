//! Artifacts on disk: each stored once under its digest, however many objects it belongs to.
//!
//! ```text
//! blobs/sha256/<hex>              the bytes
//! <kind>/<namespace>/<name>/<file>  the same file again, under the names that it is published with
//! trees/<hex>                     its files one behind the other, for builds
//! temp/                           what is being written
//! ```
//!
//! A published file is a hard link, so the file system counts who refers to a blob, and a crash cannot
//! make the count wrong. Everything is written below `temp` and renamed: what has a name is complete.
//! Nothing is forced to disk; after a power failure [`Storage::verify`] and the check while unpacking find
//! what is damaged, and the source is fetched again.
//!
//! All methods block. One process uses a directory at a time.

mod error;
mod incoming;
mod owner;
mod retention;
mod unpacked;

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use flumen_archive::{ArchiveWriter, Budget, Contents, Files, Gzip, Ignore, pack_tree};
use flumen_fs::Tree;
use flumen_oci::{Algorithm, Digest};
use parking_lot::{Mutex, MutexGuard};
use tempfile::{SpooledTempFile, spooled_tempfile_in};

pub use self::{
    error::{StorageError, Unverified},
    incoming::Incoming,
    owner::Owner,
    retention::Retention,
};
use self::{
    owner::{BLOBS, TEMPORARY, TREES},
    unpacked::Unpacked,
};
use crate::checksum::Checksum;

/// Limits of the content of an artifact.
const BUDGET: Budget = Budget { bytes: 1 << 30, files: 200_000 };

/// Bytes that are unpacked without a file: most artifacts are no larger, and a file that is removed at once delays the
/// creation of others.
const IN_MEMORY: usize = 1 << 20;

const LOCK: &str = ".lock";
const ALGORITHM: &str = "sha256";

/// Where artifacts are kept.
#[derive(Debug)]
pub struct Storage {
    root: PathBuf,
    budget: Budget,
    index: Mutex<Index>,
    unpacked: Unpacked,
    /// Held for as long as this lives.
    _lock: File,
}

/// What is known about blobs. Links are made and removed only while it is locked.
#[derive(Debug, Default)]
struct Index {
    /// By the number that all names of a file share.
    blobs: HashMap<u64, Digest>,
    /// Files whose bytes were compared with their digest, as they were then.
    verified: HashMap<Digest, Appearance>,
    /// Digests of other algorithms by which others name a blob, and which were compared when it came.
    synonyms: HashMap<String, Digest>,
}

/// What changes when somebody writes to a file.
type Appearance = (u64, Option<SystemTime>);

/// An artifact that is in storage and published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where it is published, below the root of the server.
    pub path: String,
    pub digest: Digest,
    pub size: u64,
}

impl Storage {
    /// Opens a directory, which is created if it is not there, and removes what a crash has left.
    pub fn open(root: &Path) -> Result<Self, StorageError> {
        fs::create_dir_all(root).map_err(at(root))?;
        let root = fs::canonicalize(root).map_err(at(root))?;
        let lock_path = root.join(LOCK);
        let lock = File::create(&lock_path).map_err(at(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StorageError::InUse { path: root }),
            Err(fs::TryLockError::Error(error)) => return Err(at(&lock_path)(error)),
        }
        for name in [TEMPORARY, TREES] {
            let path = root.join(name);
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(at(&path)(error));
                }
                _ => fs::create_dir(&path).map_err(at(&path))?,
            }
        }
        let blobs = root.join(BLOBS).join(ALGORITHM);
        fs::create_dir_all(&blobs).map_err(at(&blobs))?;
        let index = Index::read(&blobs)?;
        let unpacked = Unpacked::new(root.join(TREES), root.join(TEMPORARY));
        Ok(Self { root, budget: BUDGET, index: Mutex::new(index), unpacked, _lock: lock })
    }

    /// Archives a tree and publishes it under the name of its owner.
    pub fn put(
        &self,
        owner: &Owner,
        file_name: &str,
        files: Files<'_>,
        ignore: &Ignore,
    ) -> Result<Stored, StorageError> {
        let incoming = self.archive(files, ignore)?;
        self.publish(owner, file_name, incoming)
    }

    /// Archives a tree, without a name so far.
    pub(crate) fn archive(
        &self,
        files: Files<'_>,
        ignore: &Ignore,
    ) -> Result<Incoming, StorageError> {
        let mut writer = ArchiveWriter::new(Gzip::new(io::BufWriter::new(self.incoming()?)));
        pack_tree(files, ignore, self.budget, &mut writer)?;
        let written = writer.finish().and_then(Gzip::finish).map_err(StorageError::Archive)?;
        written.into_inner().map_err(|error| StorageError::Archive(error.into()))
    }

    /// Publishes these bytes as they are.
    pub fn put_bytes(
        &self,
        owner: &Owner,
        file_name: &str,
        bytes: &[u8],
    ) -> Result<Stored, StorageError> {
        let mut incoming = self.incoming()?;
        io::Write::write_all(&mut incoming, bytes).map_err(StorageError::Archive)?;
        self.publish(owner, file_name, incoming)
    }

    /// A file to write to, which is then [published](Self::publish) or vanishes.
    pub fn incoming(&self) -> Result<Incoming, StorageError> {
        let directory = self.root.join(TEMPORARY);
        Incoming::new(&directory).map_err(at(&directory))
    }

    /// Sink for the files of an archive that is not stored as it is.
    pub(crate) fn unpacking(&self) -> Contents<SpooledTempFile> {
        Contents::new(spooled_tempfile_in(IN_MEMORY, self.root.join(TEMPORARY)))
    }

    /// Limits of the content of an artifact.
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// Stores what was written under its digest and publishes it under the name of its owner.
    pub fn publish(
        &self,
        owner: &Owner,
        file_name: &str,
        incoming: Incoming,
    ) -> Result<Stored, StorageError> {
        let path = owner.path(file_name)?;
        let (file, digest, size) = incoming.finish().map_err(StorageError::Archive)?;
        self.look_at(&digest);
        let blob = self.blob(&digest);
        let mut index = self.index();
        if self.good(&index, &digest).is_none() {
            // Other names of a damaged file still lead to it; who uses one of them finds that out and comes here, too.
            if let Some(damaged) = fs::metadata(&blob).ok().as_ref().and_then(identity_of) {
                index.blobs.remove(&damaged);
            }
            file.persist(&blob).map_err(|error| at(&blob)(error.error))?;
            let found = fs::metadata(&blob).map_err(at(&blob))?;
            index.know(&found, &digest);
        }
        self.link(&mut index, &blob, &path)?;
        Ok(Stored { path, digest, size })
    }

    /// Publishes an artifact that is in storage already, whoever brought it. None if it is not, or is damaged.
    pub fn publish_known(
        &self,
        owner: &Owner,
        file_name: &str,
        digest: &Digest,
    ) -> Result<Option<Stored>, StorageError> {
        let path = owner.path(file_name)?;
        self.look_at(digest);
        let mut index = self.index();
        let Some(found) = self.good(&index, digest) else { return Ok(None) };
        self.link(&mut index, &self.blob(digest), &path)?;
        Ok(Some(Stored { path, digest: digest.clone(), size: found.len() }))
    }

    /// The digest under which an artifact is kept that others name by a digest of whatever algorithm. None if that
    /// cannot be known; one that is known need not be there.
    pub fn known_as(&self, digest: &str) -> Option<Digest> {
        let named = if digest.contains(':') { digest } else { &format!("{ALGORITHM}:{digest}") };
        match named.parse::<Digest>() {
            Ok(own) if own.algorithm() == Algorithm::Sha256 => Some(own),
            _ => self.index().synonyms.get(named).cloned(),
        }
    }

    /// Notes another digest of an artifact, which whoever brought it has compared.
    pub(crate) fn also_known_as(&self, stored: &Stored, digest: &str) {
        if !digest.starts_with(ALGORITHM) {
            self.index().synonyms.insert(digest.to_owned(), stored.digest.clone());
        }
    }

    /// Publishes an artifact of an owner under one more name, such as `latest.tar.gz`.
    pub fn publish_again(
        &self,
        owner: &Owner,
        stored: &Stored,
        file_name: &str,
    ) -> Result<String, StorageError> {
        let path = owner.path(file_name)?;
        self.link(&mut self.index(), &self.blob(&stored.digest), &path)?;
        Ok(path)
    }

    /// The content of an artifact as a tree whose root is `/`.
    ///
    /// It is unpacked when somebody asks for the first time; who asks meanwhile waits for that. The
    /// files stay at least as long as somebody holds the tree.
    pub fn tree(&self, digest: &Digest) -> Result<Arc<dyn Tree>, StorageError> {
        let tree = self.unpacked.tree(digest, self.budget, || {
            let blob = self.blob(digest);
            match File::open(&blob) {
                Ok(file) => Ok(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(StorageError::Missing { digest: digest.clone() })
                }
                Err(error) => Err(at(&blob)(error)),
            }
        });
        if let Err(StorageError::Damaged { digest }) = &tree {
            // However it looks: its bytes count from now on.
            self.index().verified.remove(digest);
        }
        Ok(Arc::new(tree?))
    }

    /// Whether a published file is there and holds what its digest says.
    ///
    /// Bytes are compared once, and again only if the file looks as if somebody had written to it.
    pub fn verify(&self, path: &str, digest: &str) -> Result<(), Unverified> {
        let (owner, file) = owner::parse_path(path).ok_or(Unverified::Missing)?;
        let checksum = Checksum::parse(digest)
            .map_err(|reason| Unverified::Digest { digest: digest.to_owned(), reason })?;
        let path = self.root.join(owner.directory()).join(file);
        let missing = |_| Unverified::Missing;
        let found = fs::metadata(&path).map_err(missing)?;
        let name: Option<Digest> = digest.parse().ok();
        let is_known = name.as_ref().is_some_and(|name| {
            let index = self.index();
            let blob = identity(&found).and_then(|(inode, _)| index.blobs.get(&inode));
            blob == Some(name) && index.verified.get(name) == Some(&appearance(&found))
        });
        if is_known {
            return Ok(());
        }
        let file = File::open(&path).map_err(missing)?;
        if !checksum.fits(file).map_err(missing)? {
            return Err(Unverified::Mismatch { digest: digest.to_owned() });
        }
        if let Some(name) = name.filter(|name| name.to_string().starts_with(ALGORITHM)) {
            self.adopt(&path, &found, &name);
        }
        Ok(())
    }

    /// Removes a published file, damaged or not.
    pub fn remove(&self, path: &str) -> Result<(), StorageError> {
        match owner::parse_path(path) {
            Some((owner, file)) => {
                let path = self.root.join(owner.directory()).join(file);
                self.unlink(&mut self.index(), &path)
            }
            None => Ok(()),
        }
    }

    /// Opens a published file for who asks over the network.
    pub(crate) fn open_published(&self, path: &str) -> Option<File> {
        let (owner, file) = owner::parse_path(path)?;
        let file = File::open(self.root.join(owner.directory()).join(file)).ok()?;
        file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
    }

    /// Notes that a published file is good, and keeps it as a blob if it came here in another way.
    fn adopt(&self, path: &Path, found: &fs::Metadata, digest: &Digest) {
        let mut index = self.index();
        let blob = self.blob(digest);
        if !blob.exists() && fs::hard_link(path, &blob).is_err() {
            return;
        }
        // If the blob is another file with the same name, that one was not looked at.
        let same = fs::metadata(&blob).is_ok_and(|blob| identity_of(&blob) == identity_of(found));
        if same && identity(found).is_some() {
            index.know(found, digest);
        }
    }

    /// Compares the bytes of a blob with its digest, unless that was done. Takes its time, so nothing is locked.
    fn look_at(&self, digest: &Digest) {
        if self.good(&self.index(), digest).is_some() {
            return;
        }
        let blob = self.blob(digest);
        let (Ok(checksum), Ok(file)) = (Checksum::parse(&digest.to_string()), File::open(&blob))
        else {
            return;
        };
        let Ok(found) = file.metadata() else { return };
        if checksum.fits(file).unwrap_or(false) {
            let mut index = self.index();
            let is_still = |now: &fs::Metadata| identity_of(now) == identity_of(&found);
            if fs::metadata(&blob).is_ok_and(|now| is_still(&now)) {
                index.know(&found, digest);
            }
        }
    }

    /// How a blob looks that holds what its digest says.
    fn good(&self, index: &Index, digest: &Digest) -> Option<fs::Metadata> {
        let found = fs::metadata(self.blob(digest)).ok()?;
        (index.verified.get(digest) == Some(&appearance(&found))).then_some(found)
    }

    fn blob(&self, digest: &Digest) -> PathBuf {
        self.root.join(BLOBS).join(digest.algorithm().name()).join(digest.hex())
    }

    /// Gives a blob one more name, in the place of what has that name.
    fn link(&self, index: &mut Index, blob: &Path, path: &str) -> Result<(), StorageError> {
        let target = self.root.join(path);
        if let Some(directory) = target.parent() {
            fs::create_dir_all(directory).map_err(at(directory))?;
        }
        let found = fs::metadata(blob).map_err(at(blob))?;
        let before = fs::metadata(&target).ok();
        // Renaming a file to another name of the same file does nothing.
        let is_linked = before.as_ref().is_some_and(|before| {
            identity(&found).is_some() && identity_of(before) == identity_of(&found)
        });
        if !is_linked {
            let temporary = tempfile::Builder::new()
                .make_in(self.root.join(TEMPORARY), |path| fs::hard_link(blob, path))
                .map_err(at(&target))?;
            temporary
                .into_temp_path()
                .persist(&target)
                .map_err(|error| at(&target)(error.error))?;
            if let Some(before) = before {
                self.release(index, &before)?;
            }
        }
        Ok(())
    }

    /// Takes one name away.
    fn unlink(&self, index: &mut Index, path: &Path) -> Result<(), StorageError> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(at(path)(error)),
        };
        fs::remove_file(path).map_err(at(path))?;
        self.release(index, &found)
    }

    /// Removes a blob that lost a name if it has no other. `before` is how it looked with the name.
    fn release(&self, index: &mut Index, before: &fs::Metadata) -> Result<(), StorageError> {
        let Some((inode, 2)) = identity(before) else { return Ok(()) };
        let Some(digest) = index.blobs.remove(&inode) else { return Ok(()) };
        index.verified.remove(&digest);
        index.synonyms.retain(|_, known| *known != digest);
        let blob = self.blob(&digest);
        fs::remove_file(&blob).map_err(at(&blob))?;
        self.unpacked.forget(&digest);
        Ok(())
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // What it says is checked against the file system before anything relies on it.
        self.index.lock()
    }
}

impl Index {
    /// Notes that a file holds what its digest says.
    fn know(&mut self, found: &fs::Metadata, digest: &Digest) {
        if let Some(inode) = identity_of(found) {
            self.blobs.insert(inode, digest.clone());
        }
        self.verified.insert(digest.clone(), appearance(found));
    }

    /// Reads which blobs there are, and removes those that nobody refers to.
    fn read(blobs: &Path) -> Result<Self, StorageError> {
        let mut index = Self::default();
        for entry in fs::read_dir(blobs).map_err(at(blobs))? {
            let entry = entry.map_err(at(blobs))?;
            let path = entry.path();
            let found = entry.metadata().map_err(at(&path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let digest: Option<Digest> = format!("{ALGORITHM}:{name}").parse().ok();
            match (digest, identity(&found)) {
                (Some(digest), Some((inode, links))) if links > 1 => {
                    index.blobs.insert(inode, digest);
                }
                // Where links are not counted nothing is known to be useless.
                (Some(_), None) => {}
                _ if found.is_dir() => fs::remove_dir_all(&path).map_err(at(&path))?,
                _ => fs::remove_file(&path).map_err(at(&path))?,
            }
        }
        Ok(index)
    }
}

fn appearance(found: &fs::Metadata) -> Appearance {
    (found.len(), found.modified().ok())
}

fn identity_of(found: &fs::Metadata) -> Option<u64> {
    identity(found).map(|(inode, _)| inode)
}

/// The number that all names of a file share, and how many names it has.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system tells")]
fn identity(found: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.ino(), found.nlink()))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> StorageError {
    let path = path.to_owned();
    move |source| StorageError::Io { path, source }
}
