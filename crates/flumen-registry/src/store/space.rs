//! How much room there is.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::Limits;

/// There is no room left, by the limit that was set or on the disk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

#[derive(Debug)]
pub(crate) struct Space {
    directory: PathBuf,
    limit: u64,
    keep_free: u64,
    /// Bytes of blobs and of unfinished uploads.
    used: AtomicU64,
}

impl Space {
    pub(super) fn new(directory: PathBuf, limits: &Limits, used: u64) -> Self {
        Self {
            directory,
            limit: limits.total_size.unwrap_or(u64::MAX),
            keep_free: limits.keep_free,
            used: AtomicU64::new(used),
        }
    }

    /// Whether the disk has room for so much more.
    ///
    /// A database that runs into a full disk must be opened again, so some room is kept for it.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), Full> {
        // A disk that cannot tell will say so when it is written to.
        let Ok(disk) = rustix::fs::statvfs(&self.directory) else { return Ok(()) };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free >= bytes.saturating_add(self.keep_free) { Ok(()) } else { Err(Full) }
    }

    fn take(&self, bytes: u64) -> Result<(), Full> {
        self.check(bytes)?;
        let grown = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        self.used.fetch_update(Relaxed, Relaxed, grown).map(|_| ()).map_err(|_| Full)
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}

/// Room that belongs to an upload, given back unless the content stays.
#[derive(Debug)]
pub(crate) struct Reserved {
    space: Arc<Space>,
    bytes: u64,
}

impl Reserved {
    pub(crate) const fn none(space: Arc<Space>) -> Self {
        Self { space, bytes: 0 }
    }

    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), Full> {
        self.space.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// The content has become a blob.
    pub(super) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.space.give_back(self.bytes);
    }
}
