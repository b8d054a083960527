//! Errors of packing and unpacking.

use std::{
    io,
    path::{Path, PathBuf},
};

use flumen_fs::FsError;
use thiserror::Error;

/// Reason why an archive was not unpacked.
///
/// `archive` is the name that the caller gave it.
#[derive(Debug, Error)]
pub enum UnpackError {
    #[error("{archive} is not a valid archive: {reason}")]
    Invalid { archive: String, reason: String },
    #[error("unsafe archive: the entry `{entry}` of {archive} {reason}")]
    UnsafeEntry { archive: String, entry: String, reason: &'static str },
    #[error("{archive} is too large: the limit is {limit} bytes after unpacking")]
    TooLarge { archive: String, limit: u64 },
    #[error("{archive} holds too many files: the limit is {limit}")]
    TooManyFiles { archive: String, limit: u64 },
    #[error("the entry `{entry}` of {archive} is too large: the limit is {limit} bytes")]
    FileTooLarge { archive: String, entry: String, limit: u64 },
    #[error("cannot use `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl UnpackError {
    /// Returns whether a larger [`Budget`](crate::Budget) would help.
    pub const fn is_over_budget(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::TooManyFiles { .. })
    }

    pub(crate) fn invalid(archive: &str, error: &io::Error) -> Self {
        Self::Invalid { archive: archive.to_owned(), reason: error.to_string() }
    }

    pub(crate) fn unsafe_entry(archive: &str, name: &[u8], reason: &'static str) -> Self {
        Self::UnsafeEntry { archive: archive.to_owned(), entry: shown(name), reason }
    }

    pub(crate) fn duplicate(archive: &str, path: &Path) -> Self {
        Self::unsafe_entry(archive, path.as_os_str().as_encoded_bytes(), "is a duplicate")
    }

    pub(crate) fn file_too_large(archive: &str, name: &[u8], limit: u64) -> Self {
        Self::FileTooLarge { archive: archive.to_owned(), entry: shown(name), limit }
    }

    /// Error of a sink. An entry that exists already is the fault of the archive.
    pub(crate) fn of_sink(archive: &str, path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                Self::duplicate(archive, path)
            }
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof => Self::invalid(archive, &error),
            _ => Self::Io { path: path.to_owned(), source: error },
        }
    }
}

/// Name of an entry as messages show it.
fn shown(name: &[u8]) -> String {
    const SHOWN: usize = 200;
    let start = name.get(..SHOWN).unwrap_or(name);
    let mut text = String::from_utf8_lossy(start).into_owned();
    if start.len() < name.len() {
        text.push('…');
    }
    text
}

/// Reason why files were not packed.
#[derive(Debug, Error)]
pub enum PackError {
    #[error(transparent)]
    Content(#[from] FsError),
    #[error("`{path}` lies too deep")]
    TooDeep { path: String },
    #[error("there is more than an artifact may hold")]
    TooLarge,
    #[error("cannot use `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the archive cannot be written: {0}")]
    Write(#[from] io::Error),
}
