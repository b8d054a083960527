//! The two ways to hold a store, which must not differ.

use std::path::PathBuf;

use flumen_store::{Entry, Options, Range, ReadError, Revision, Store, Transaction};
use tempfile::TempDir;

/// A store in its own directory or in memory.
pub(crate) struct Held {
    pub(crate) store: Store,
    directory: Option<TempDir>,
    options: Options,
}

impl Held {
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.path().join("store"))
    }

    /// Closes the store and leaves its directory.
    pub(crate) fn close(self) -> Option<TempDir> {
        self.directory
    }

    /// Closes the store and opens it again, if it is in a file.
    pub(crate) fn reopen(&mut self) -> bool {
        let Some(path) = self.path() else { return false };
        // The file cannot be opened twice.
        self.store = Store::in_memory(self.options).expect("starts");
        self.store = Store::open(&path, self.options).expect("opens");
        true
    }
}

/// The same store in a file and in memory.
pub(crate) fn both(options: Options) -> [Held; 2] {
    let directory = tempfile::tempdir().expect("a directory");
    let file = Store::open(&directory.path().join("store"), options).expect("opens");
    let memory = Store::in_memory(options).expect("starts");
    [
        Held { store: file, directory: Some(directory), options },
        Held { store: memory, directory: None, options },
    ]
}

/// What a key held at a revision.
pub(crate) fn get_at(
    store: &Store,
    key: &str,
    revision: Revision,
) -> Result<Option<Entry>, ReadError> {
    let range = Range { prefix: key, revision: Some(revision), limit: Some(1), ..Range::default() };
    let found = store.range(&range)?.entries.into_iter().next();
    Ok(found.filter(|(first, _)| **first == *key).map(|(_, entry)| entry))
}

pub(crate) async fn put(store: &Store, key: &str, value: &str) -> Revision {
    store.commit(Transaction::new().put(key, value)).await.expect("commits")
}

pub(crate) async fn delete(store: &Store, key: &str) -> Revision {
    store.commit(Transaction::new().delete(key)).await.expect("commits")
}
