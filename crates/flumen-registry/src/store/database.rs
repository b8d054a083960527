//! The database file, which is opened again after it failed.
//!
//! The database trusts nothing in its memory after an error of the disk. Closing and opening it
//! returns to the last commit, so a disk that was full needs no restart of the registry.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use parking_lot::RwLock;
use redb::{Database as Redb, ReadableDatabase as _, WriteTransaction};

use super::{
    files::Files,
    rows::{TABLES, View},
};

#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    state: RwLock<State>,
}

#[derive(Debug)]
enum State {
    Open(Redb),
    /// It failed and could not be opened again yet.
    Broken,
    Closed,
}

impl State {
    fn database(&self) -> Result<&Redb, redb::Error> {
        match self {
            Self::Open(database) => Ok(database),
            Self::Broken => Err(redb::Error::PreviousIo),
            Self::Closed => Err(redb::Error::DatabaseClosed),
        }
    }
}

impl Database {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path, files: &Files) -> Result<Self, redb::Error> {
        if !path.exists() {
            create(path, files)?;
        }
        let database = Redb::open(path)?;
        prepare(&database)?;
        Ok(Self { path: path.to_owned(), state: RwLock::new(State::Open(database)) })
    }

    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&View) -> Result<T, redb::Error>,
    ) -> Result<T, redb::Error> {
        let state = self.state.read();
        query(&View::new(state.database()?.begin_read()?))
    }

    /// Does the work in one transaction, which is committed only if the work succeeds.
    pub(super) fn write<T, E: From<redb::Error>>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let state = self.state.read();
        let transaction = state.database()?.begin_write().map_err(redb::Error::from)?;
        let result = work(&transaction)?;
        transaction.commit().map_err(redb::Error::from)?;
        Ok(result)
    }

    /// Returns to the last commit. Waits for readers to end.
    pub(super) fn reopen(&self) {
        let mut state = self.state.write();
        if matches!(*state, State::Closed) {
            return;
        }
        // Closed before it is opened: its file is locked.
        *state = State::Broken;
        if let Ok(database) = Redb::open(&self.path) {
            *state = State::Open(database);
        }
    }

    /// Releases the file for good. Waits for readers and for the commit under way.
    pub(super) fn close(&self) {
        *self.state.write() = State::Closed;
    }
}

/// Makes a file that gets its name when it is complete: one whose making was cut short is no
/// database.
fn create(path: &Path, files: &Files) -> Result<(), redb::Error> {
    let file = files.temporary()?;
    drop(Redb::builder().create_file(file.reopen()?)?);
    match file.persist_noclobber(path) {
        Ok(_) => Ok(File::open(files.root())?.sync_all()?),
        // Another process was faster.
        Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(failure) => Err(failure.error.into()),
    }
}

/// Readers expect every table to exist.
fn prepare(database: &Redb) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    for table in TABLES {
        transaction.open_table(table)?;
    }
    Ok(transaction.commit()?)
}
