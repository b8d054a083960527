//! What fetching may cost, and the watch over it.

use std::{
    cell::Cell,
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{Error, waiting::LOOK};

/// How much one repository or file may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From the first connection to the last byte.
    pub time: Duration,
    /// Received for one repository and its submodules.
    pub bytes: u64,
    /// Received for one file that is no repository.
    pub file_bytes: u64,
    /// Files, directories and commits that a repository and its submodules send, and entries of
    /// directories that are read from them.
    pub objects: u32,
    /// The directory in which fetched repositories are kept while they are read; the system's for
    /// temporary files if none is given.
    pub scratch: Option<PathBuf>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(1),
            bytes: 100 << 20,
            file_bytes: 10 << 20,
            objects: 100_000,
            scratch: None,
        }
    }
}

/// What may still be received: for a repository together with its submodules, or for a file.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: Cell<u64>,
    bytes_limit: u64,
    objects: Cell<u32>,
    objects_limit: u32,
}

impl Budget {
    pub(crate) fn of_repository(limits: &Limits) -> Self {
        Self::new(limits.bytes, limits.objects)
    }

    pub(crate) fn of_file(limits: &Limits) -> Self {
        Self::new(limits.file_bytes, 0)
    }

    fn new(bytes: u64, objects: u32) -> Self {
        Self {
            bytes: Cell::new(bytes),
            bytes_limit: bytes,
            objects: Cell::new(objects),
            objects_limit: objects,
        }
    }

    pub(crate) fn spend_bytes(&self, count: usize, url: &dyn fmt::Display) -> Result<(), Error> {
        let left = self
            .bytes
            .get()
            .checked_sub(count as u64)
            .ok_or_else(|| Error::TooLarge { url: url.to_string(), limit: self.bytes_limit })?;
        self.bytes.set(left);
        Ok(())
    }

    pub(crate) fn spend_objects(&self, count: u32, url: &dyn fmt::Display) -> Result<(), Error> {
        let left = self.objects.get().checked_sub(count).ok_or_else(|| Error::TooManyObjects {
            url: url.to_string(),
            limit: self.objects_limit,
        })?;
        self.objects.set(left);
        Ok(())
    }
}

/// Runs `work` with a flag that goes up when the time is over or the caller wants no more.
pub(crate) fn watched<T>(
    url: &str,
    time: Duration,
    cancel: &AtomicBool,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Error>,
) -> Result<T, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let begin = Instant::now();
    // Nothing is ever sent: the end of the work closes the channel, and that ends the watch.
    let (running, is_over) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if cancel.load(Ordering::Relaxed) || begin.elapsed() >= time {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        let result = work(stop);
        drop(running);
        result
    });
    match result {
        // Whatever it says, this is why.
        Err(_) if cancel.load(Ordering::Relaxed) => Err(Error::Cancelled { url: url.to_owned() }),
        Err(_) if stop.load(Ordering::Relaxed) => {
            Err(Error::TimedOut { url: url.to_owned(), seconds: time.as_secs() })
        }
        result => result,
    }
}
