//! Why a store does not open, and what it refuses.

use std::{io, path::PathBuf, sync::Arc};

use crate::{
    entry::Revision,
    transaction::{MAX_KEY, MAX_VALUE},
};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the store `{}` is in use by another process", path.display())]
    InUse { path: PathBuf },

    #[error("`{}` is not a store of this program", path.display())]
    Foreign { path: PathBuf },

    #[error(
        "the store `{}` has schema version {found}; this program knows version {known}",
        path.display()
    )]
    Schema { path: PathBuf, found: u64, known: u64 },

    #[error("the store `{}` is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },

    #[error("cannot open the store `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl OpenError {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InUse { .. } => Some("stop the other process, or give each its own file"),
            Self::Foreign { .. } => {
                Some("give the path of a store, or of a file that does not exist yet")
            }
            Self::Schema { found, known, .. } if found > known => {
                Some("a newer version wrote the file: use that version, or another file")
            }
            Self::Schema { .. } => {
                Some("open the file with the version that wrote it, or use another file")
            }
            Self::Damaged { .. } => Some(
                "put a copy of the file back, or move the file away to begin with an empty store",
            ),
            Self::Io { .. } => None,
        }
    }
}

/// Why nothing can be read at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("revision {requested} has been compacted; the oldest is {compacted}")]
    Compacted { requested: Revision, compacted: Revision },

    #[error("revision {requested} is in the future; the newest is {current}")]
    Future { requested: Revision, current: Revision },
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// A condition of the transaction does not hold.
    #[error("`{key}` is {}", at(*found))]
    Conflict {
        key: String,
        /// Where the key is instead; `None` when it is absent.
        found: Option<Revision>,
    },

    #[error("a key has {length} bytes; 1 to {MAX_KEY} are allowed")]
    Key { length: usize },

    #[error("the value of `{key}` has {length} bytes; {MAX_VALUE} are allowed")]
    Value { key: String, length: usize },

    /// Whether the transaction has taken place is not known.
    #[error("cannot write to the store")]
    Storage {
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },

    #[error("the store is closed")]
    Closed,
}

fn at(found: Option<Revision>) -> String {
    found.map_or_else(|| "absent".to_owned(), |revision| format!("at revision {revision}"))
}

/// Why a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// The reader was so slow that what it has not seen yet is gone.
    #[error("the watch fell behind the history that is kept")]
    Lagged,

    #[error("the store is closed")]
    Closed,
}
