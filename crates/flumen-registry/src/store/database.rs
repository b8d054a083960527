//! The database file, which is opened again after it failed.
//!
//! The database trusts nothing in its memory after an error of the disk. Closing and opening it
//! returns to the last commit, so a disk that was full needs no restart of the registry.

use std::{
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use redb::{Database as Redb, ReadableDatabase as _, WriteTransaction};

use super::rows::{TABLES, View};

#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    /// `None` when it could not be opened again yet.
    open: RwLock<Option<Redb>>,
}

impl Database {
    pub(super) fn open(path: &Path) -> Result<Self, redb::Error> {
        let database = Redb::create(path)?;
        let transaction = database.begin_write()?;
        for table in TABLES {
            // Readers expect every table to exist.
            transaction.open_table(table)?;
        }
        transaction.commit()?;
        Ok(Self { path: path.to_owned(), open: RwLock::new(Some(database)) })
    }

    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&View) -> Result<T, redb::Error>,
    ) -> Result<T, redb::Error> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let database = open.as_ref().ok_or(redb::Error::PreviousIo)?;
        query(&View::new(database.begin_read()?))
    }

    /// Does the work in one transaction, which is committed only if the work succeeds.
    pub(super) fn write<T, E: From<redb::Error>>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let database = open.as_ref().ok_or(redb::Error::PreviousIo)?;
        let transaction = database.begin_write().map_err(redb::Error::from)?;
        let result = work(&transaction)?;
        transaction.commit().map_err(redb::Error::from)?;
        Ok(result)
    }

    /// Returns to the last commit. Waits for readers to end.
    pub(super) fn reopen(&self) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        // Closed before it is opened: its file is locked.
        *open = None;
        *open = Redb::create(&self.path).ok();
    }
}
