//! Uploads that are not finished yet.
//!
//! They live in memory and in temporary files, and end with the process: a client that finds its
//! upload gone starts it again.

use std::{
    collections::HashMap,
    io::{self, Read as _, Seek as _, Write as _},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tempfile::{NamedTempFile, TempPath};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, mpsc};

use crate::{
    Limits,
    digest::{Algorithm, Digest, Hasher},
    name::RepositoryName,
    store::{Files, Full, Reserved, Space, Store, is_full},
};

/// Pieces that wait to be written. Together with their size this bounds the memory of an upload.
const QUEUE: usize = 4;
/// For reading content again when another hash is asked for.
const REREAD_BUFFER: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Uploads {
    files: Arc<Files>,
    space: Arc<Space>,
    slots: Arc<Semaphore>,
    max_size: u64,
    sessions: Mutex<HashMap<String, Session>>,
}

#[derive(Clone, Debug)]
struct Session {
    repository: RepositoryName,
    touched: Instant,
    upload: Arc<tokio::sync::Mutex<Upload>>,
}

/// Content so far.
#[derive(Debug)]
pub(crate) struct Upload {
    file: NamedTempFile,
    hasher: Hasher,
    size: u64,
    reserved: Reserved,
    _slot: OwnedSemaphorePermit,
}

#[derive(Debug)]
pub(crate) enum UploadError {
    TooMany,
    Full,
    TooLarge {
        limit: u64,
    },
    /// The content is not what the client says it is.
    WrongDigest,
    Io(io::Error),
    /// The runtime is shutting down.
    Stopped,
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> Self {
        if is_full(&error) { Self::Full } else { Self::Io(error) }
    }
}

impl From<Full> for UploadError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl Uploads {
    pub(crate) fn new(store: &Store, limits: &Limits) -> Self {
        Self {
            files: Arc::clone(store.files()),
            space: Arc::clone(store.space()),
            slots: Arc::new(Semaphore::new(limits.uploads)),
            max_size: limits.blob_size,
            sessions: Mutex::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        // A panic while the map was held cannot leave it half changed.
        self.sessions.lock()
    }

    /// Begins an upload and returns the name under which it is continued.
    pub(crate) async fn begin(&self, repository: &RepositoryName) -> Result<String, UploadError> {
        let upload = self.create().await?;
        let id = random_id()?;
        let session = Session {
            repository: repository.clone(),
            touched: Instant::now(),
            upload: Arc::new(tokio::sync::Mutex::new(upload)),
        };
        self.sessions().insert(id.clone(), session);
        Ok(id)
    }

    /// An upload that nobody can come back to.
    pub(crate) async fn create(&self) -> Result<Upload, UploadError> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| UploadError::TooMany)?;
        let files = Arc::clone(&self.files);
        let file = tokio::task::spawn_blocking(move || files.temporary());
        Ok(Upload {
            file: file.await.map_err(|_| UploadError::Stopped)??,
            hasher: Hasher::new(Algorithm::Sha256),
            size: 0,
            reserved: Reserved::none(Arc::clone(&self.space)),
            _slot: slot,
        })
    }

    /// The upload of that name, when no other request is working on it any more.
    pub(crate) async fn lock(
        &self,
        repository: &RepositoryName,
        id: &str,
    ) -> Option<OwnedMutexGuard<Upload>> {
        let upload = {
            let mut sessions = self.sessions();
            let session =
                sessions.get_mut(id).filter(|session| session.repository == *repository)?;
            session.touched = Instant::now();
            Arc::clone(&session.upload)
        };
        Some(upload.lock_owned().await)
    }

    /// Forgets an upload and says whether there was one. Its file goes with the last user.
    pub(crate) fn remove(&self, repository: &RepositoryName, id: &str) -> bool {
        let mut sessions = self.sessions();
        let is_there = sessions.get(id).is_some_and(|session| session.repository == *repository);
        is_there && sessions.remove(id).is_some()
    }

    /// Takes an upload out to finish it. There is none if another request wants to go on with it,
    /// which no sensible client does.
    pub(crate) fn take(&self, id: &str) -> Option<Upload> {
        let session = self.sessions().remove(id)?;
        Arc::into_inner(session.upload).map(tokio::sync::Mutex::into_inner)
    }

    /// Drops uploads that nobody has continued for this time.
    pub(crate) fn expire(&self, age: Duration) {
        // One that is being written to is locked, however slow its client is.
        self.sessions().retain(|_, session| {
            session.touched.elapsed() < age || session.upload.try_lock().is_err()
        });
    }

    pub(crate) fn max_size(&self) -> u64 {
        self.max_size
    }
}

impl Upload {
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    fn append(&mut self, piece: &[u8], max_size: u64) -> Result<(), UploadError> {
        let length = piece.len() as u64;
        if self.size + length > max_size {
            return Err(UploadError::TooLarge { limit: max_size });
        }
        self.reserved.grow(length)?;
        self.file.write_all(piece)?;
        self.hasher.update(piece);
        self.size += length;
        Ok(())
    }

    /// Checks the content and makes it reach the disk.
    pub(crate) fn finish(mut self, expected: &Digest) -> Result<(TempPath, Reserved), UploadError> {
        let actual = match expected.algorithm() {
            Algorithm::Sha256 => self.hasher.finish(),
            Algorithm::Sha512 => hash_again(&mut self.file, Algorithm::Sha512)?,
        };
        if actual != *expected {
            return Err(UploadError::WrongDigest);
        }
        self.file.as_file().sync_data()?;
        Ok((self.file.into_temp_path(), self.reserved))
    }
}

/// The hash is computed while the content arrives, before the client says which one it wants.
fn hash_again(file: &mut NamedTempFile, algorithm: Algorithm) -> io::Result<Digest> {
    file.rewind()?;
    let mut hasher = Hasher::new(algorithm);
    let mut buffer = vec![0; REREAD_BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Takes pieces on a thread that may wait for the disk, so that receiving, hashing and writing overlap.
#[derive(Debug)]
pub(crate) struct Appender<U> {
    pieces: mpsc::Sender<Bytes>,
    worker: tokio::task::JoinHandle<(U, Result<(), UploadError>)>,
}

impl<U: Reach> Appender<U> {
    pub(crate) fn start(mut upload: U, max_size: u64) -> Self {
        let (pieces, mut arriving) = mpsc::channel::<Bytes>(QUEUE);
        let worker = tokio::task::spawn_blocking(move || {
            while let Some(piece) = arriving.blocking_recv() {
                if let Err(error) = upload.upload().append(&piece, max_size) {
                    return (upload, Err(error));
                }
            }
            (upload, Ok(()))
        });
        Self { pieces, worker }
    }

    /// Hands a piece over; false when the worker has given up and [`Self::finish`] knows why.
    pub(crate) async fn append(&self, piece: Bytes) -> bool {
        self.pieces.send(piece).await.is_ok()
    }

    pub(crate) async fn finish(self) -> Result<U, UploadError> {
        drop(self.pieces);
        let (upload, result) = self.worker.await.map_err(|_| UploadError::Stopped)?;
        result.map(|()| upload)
    }
}

/// Something through which a worker may reach an upload.
pub(crate) trait Reach: Send + 'static {
    fn upload(&mut self) -> &mut Upload;
}

impl Reach for Upload {
    fn upload(&mut self) -> &mut Upload {
        self
    }
}

impl Reach for OwnedMutexGuard<Upload> {
    fn upload(&mut self) -> &mut Upload {
        self
    }
}

fn random_id() -> Result<String, UploadError> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
