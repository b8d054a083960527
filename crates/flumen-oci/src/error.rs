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
    #[error("no signatures found for {digest}")]
    NoSignature { digest: Digest },
    #[error("the signature of {digest} does not count")]
    SignatureRefused {
        digest: Digest,
        #[source]
        refusal: flumen_sign::Refusal,
    },
    #[error("the signature found for {digest} was made for {signed}")]
    SignatureOfOtherDigest { digest: Digest, signed: String },
    #[error(
        "the signature of {digest} was made for the repository `{signed_as}` and not for `{repository}`"
    )]
    SignatureOfOtherRepository { digest: Digest, signed_as: String, repository: String },
    #[error("{digest} has too many signatures, and none of those that were looked at counts")]
    TooManySignatures { digest: Digest },
    #[error("signing failed")]
    Sign(#[from] flumen_sign::KeyError),
}

impl Error {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidReference { .. } => {
                Some("an example: oci://registry.example.com/org/app:v1.0.0".to_owned())
            }
            Self::NoSignature { .. } => {
                Some("`flumen sign artifact` signs it, `--key` says with which key".to_owned())
            }
            Self::SignatureOfOtherRepository { signed_as, .. } => Some(format!(
                "if this is a copy of that artifact and is meant to be, say `--signed-as {signed_as}`"
            )),
            _ => None,
        }
    }
}
