//! What can go wrong with artifacts on disk.

use std::{io, path::PathBuf};

use flumen_archive::{PackError, UnpackError};
use flumen_oci::Digest;
use thiserror::Error;

use crate::checksum::ChecksumError;

/// Why an artifact cannot be stored or read.
#[derive(Debug, Error)]
pub enum StorageError {
    #[error("`{text}` cannot be the {what} of an artifact")]
    InvalidName { what: &'static str, text: String },
    #[error("cannot use `{}`: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is used by another process", path.display())]
    InUse { path: PathBuf },
    #[error(transparent)]
    Pack(#[from] PackError),
    #[error("the archive cannot be written: {0}")]
    Archive(#[source] io::Error),
    #[error("artifact {digest} is not in storage")]
    Missing { digest: Digest },
    #[error("artifact {digest} is damaged")]
    Damaged { digest: Digest },
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

/// Why a published artifact does not count; the words are Flux's where it has some.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Unverified {
    #[error("disappeared from storage")]
    Missing,
    #[error("failed to parse artifact digest '{digest}': {reason}")]
    Digest { digest: String, reason: ChecksumError },
    #[error("computed digest doesn't match '{digest}'")]
    Mismatch { digest: String },
}
