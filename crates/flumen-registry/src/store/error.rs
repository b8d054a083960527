//! Failures that are not a client's.

use std::{io, path::PathBuf, sync::Arc};

#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("database")]
    Database(#[from] redb::Error),
    #[error("cannot write `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Changes are committed together and fail together.
    #[error("cannot commit")]
    Commit(#[source] Arc<Self>),
    #[error("the registry is shutting down")]
    Stopped,
}

impl StoreError {
    /// Whether the disk has no room.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Database(redb::Error::Io(source)) | Self::File { source, .. } => is_full(source),
            Self::Commit(error) => error.is_full(),
            Self::Database(_) | Self::Stopped => false,
        }
    }
}

pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
