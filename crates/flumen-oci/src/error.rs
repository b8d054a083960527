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
    #[error("`{}`: {reason}", path.display())]
    InvalidLayout { path: PathBuf, reason: String },
    #[error("digest mismatch: `{}` does not hold {expected}", path.display())]
    CorruptFile { path: PathBuf, expected: Digest },
    #[error("`{}` has no tag `{tag}`", place.display())]
    NoSuchTag { place: PathBuf, tag: String },
    #[error("`{}` does not hold {digest}", place.display())]
    NotHeld { place: PathBuf, digest: Digest },
    #[error("`{}` holds nothing", place.display())]
    EmptyLayout { place: PathBuf },
    #[error("`{}` holds more than one artifact", place.display())]
    AmbiguousLayout { place: PathBuf, tags: Vec<String> },
    #[error("`{}` is open for reading only", path.display())]
    ReadOnlyArchive { path: PathBuf },
    #[error("what belongs to the artifact is more than {limit}")]
    GraphTooLarge { limit: String },
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
            Self::AmbiguousLayout { place, tags } if !tags.is_empty() => Some(format!(
                "name one of its tags, as in `{}:{}`; it has {}",
                place.display(),
                tags[0],
                summary(tags)
            )),
            _ => None,
        }
    }

    /// Whether a place was asked and does not have it.
    pub const fn is_not_found(&self) -> bool {
        matches!(self, Self::NoSuchTag { .. } | Self::NotHeld { .. })
    }
}

/// The first few names; a layout can hold thousands.
fn summary(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and others") } else { shown }
}
