//! What is stored under a key, and how it changed.

use std::{fmt, sync::Arc};

use bytes::Bytes;

/// A number that every transaction increases.
pub type Revision = u64;

#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    pub value: Bytes,
    /// Of the last change.
    pub revision: Revision,
    /// Of the first change since the key was absent.
    pub created: Revision,
}

/// Values may be secrets, so they are not shown.
impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("bytes", &self.value.len())
            .field("revision", &self.revision)
            .field("created", &self.created)
            .finish()
    }
}

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub revision: Revision,
    pub key: Arc<str>,
    /// `None` when the key was deleted.
    pub entry: Option<Entry>,
    /// What the key held before; `None` when it was absent.
    pub previous: Option<Entry>,
    /// The place among all events since the store was opened. A transaction may have many events,
    /// so the revision does not say how far a watch has come.
    pub(crate) sequence: u64,
}
