//! The directory of an instance, and whether somebody serves it.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::Error;

const LOCK: &str = "lock";
const RECORD: &str = "instance.json";
/// How often a stopping instance is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The directory of an instance.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

/// What a running instance says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub pid: i32,
    /// `https://127.0.0.1:PORT`
    pub server: String,
    /// `127.0.0.1:PORT`
    pub registry: String,
    /// RFC 3339.
    pub started: String,
    pub version: String,
}

/// What is going on in a directory.
#[derive(Clone, Debug)]
pub enum State {
    /// Nobody has used it.
    Absent,
    /// There is state, and nobody serves it.
    Stopped,
    Running(Record),
    /// Somebody holds it and has not said where it listens: it starts, or it ends.
    Changing,
}

/// Keeps others out of a directory; the system releases it however the process ends.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "held, not used")] File);

impl Home {
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.0.join("kubeconfig")
    }

    /// Where a controller beside the cluster keeps the artifacts of sources.
    pub fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.0.join("objects.redb")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.0.join("registry")
    }

    pub(crate) fn token(&self) -> PathBuf {
        self.0.join("admin.token")
    }

    /// Makes the directory, for its owner alone, and keeps others out.
    pub(crate) fn claim(&self) -> Result<Claim, Error> {
        let failed = |source| Error::Directory { path: self.0.clone(), source };
        fs::create_dir_all(&self.0).map_err(failed)?;
        only_owner(&self.0).map_err(failed)?;
        match self.try_lock().map_err(failed)? {
            Some(lock) => Ok(Claim(lock)),
            None => Err(Error::Running { path: self.0.clone() }),
        }
    }

    pub fn state(&self) -> Result<State, Error> {
        let failed = |source| Error::Directory { path: self.0.clone(), source };
        if !self.0.join(LOCK).try_exists().map_err(failed)? {
            return Ok(State::Absent);
        }
        if self.try_lock().map_err(failed)?.is_some() {
            return Ok(State::Stopped);
        }
        let record = fs::read(self.0.join(RECORD)).ok();
        let record = record.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(record.map_or(State::Changing, State::Running))
    }

    /// Tells a running instance to end and waits until it has; false if there is none.
    pub async fn stop(&self, patience: Duration) -> Result<bool, Error> {
        let State::Running(record) = self.state()? else { return Ok(false) };
        let pid = Pid::from_raw(record.pid).ok_or(Error::Record { path: self.0.join(RECORD) })?;
        let failed =
            |errno: rustix::io::Errno| Error::Stop { pid: record.pid, source: errno.into() };
        kill_process(pid, Signal::TERM).map_err(failed)?;
        let gone = async {
            while !matches!(self.state()?, State::Stopped | State::Absent) {
                tokio::time::sleep(LOOK).await;
            }
            Ok::<(), Error>(())
        };
        match tokio::time::timeout(patience, gone).await {
            Ok(gone) => gone.map(|()| true),
            Err(_) => Err(Error::StillRunning { pid: record.pid }),
        }
    }

    /// Deletes everything of an instance that does not run; false if there is nothing.
    ///
    /// Only what an instance makes is deleted, so that a wrong directory loses nothing.
    pub fn reset(&self) -> Result<bool, Error> {
        if matches!(self.state()?, State::Absent) {
            return Ok(false);
        }
        let claim = self.claim()?;
        let failed = |source| Error::Directory { path: self.0.clone(), source };
        for file in [self.objects(), self.kubeconfig(), self.token(), self.0.join(RECORD)] {
            absent_is_fine(fs::remove_file(file)).map_err(failed)?;
        }
        for directory in [self.keys(), self.registry(), self.artifacts()] {
            absent_is_fine(fs::remove_dir_all(directory)).map_err(failed)?;
        }
        absent_is_fine(fs::remove_file(self.0.join(LOCK))).map_err(failed)?;
        drop(claim);
        // Somebody's own files may be in there.
        let _ = fs::remove_dir(&self.0);
        Ok(true)
    }

    pub(crate) fn record(&self, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(record)
            .map_err(|error| Error::Directory { path: self.0.clone(), source: error.into() })?;
        self.write(&self.0.join(RECORD), &text)
    }

    /// What the last instance said of itself. It is gone afterwards, so that nobody takes it for what the
    /// next one says.
    pub(crate) fn take_record(&self) -> Option<Record> {
        let path = self.0.join(RECORD);
        let record = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let _ = fs::remove_file(path);
        record
    }

    /// Writes a file whole or not at all, for its owner alone.
    pub(crate) fn write(&self, path: &Path, text: &[u8]) -> Result<(), Error> {
        let written = || -> io::Result<()> {
            let mut file = NamedTempFile::new_in(&self.0)?;
            file.write_all(text)?;
            file.persist(path)?;
            Ok(())
        };
        written().map_err(|source| Error::Write { path: path.to_owned(), source })
    }

    fn try_lock(&self) -> io::Result<Option<File>> {
        let file =
            File::options().create(true).truncate(false).write(true).open(self.0.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn only_owner(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn only_owner(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
