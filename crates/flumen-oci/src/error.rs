//! What can go wrong with artifacts.

use std::path::PathBuf;

use thiserror::Error;

use crate::Digest;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an artifact could not be read, written or moved.
///
/// A message says what is wrong; [`Error::hint`] what to try. No variant carries credentials.
#[derive(Debug, Error)]
pub enum Error {
    /// Stands in for what is being written.
    #[error("not available yet")]
    Missing,

    // names
    #[error("`{text}`: URL must be in format 'oci://<domain>/<org>/<repo>'")]
    InvalidReference { text: String },
    #[error("`{text}` is not a digest")]
    InvalidDigest { text: String },

    // content
    #[error("manifest {digest} cannot be read: {reason}")]
    InvalidManifest { digest: Digest, reason: String },
    #[error("digest mismatch: the content is not {expected}")]
    DigestMismatch { expected: Digest },
    #[error("size mismatch: {digest} was announced with {expected} bytes and has another size")]
    SizeMismatch { digest: Digest, expected: u64 },

    // registries

    // layouts on disk and copies
    #[error("cannot use `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    // artifacts

    // signatures
}

impl Error {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidReference { .. } => {
                Some("an example: oci://registry.example.com/org/app:v1.0.0".to_owned())
            }
            _ => None,
        }
    }
}
