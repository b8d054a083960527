//! What can go wrong with artifacts.

use std::{fmt, io, path::PathBuf};

use flumen_archive::{PackError, UnpackError};
use reqwest::StatusCode;
use thiserror::Error;

use crate::Digest;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an artifact could not be read, written or moved.
///
/// A message says what is wrong; [`Error::hint`] what to try. No variant carries credentials.
#[derive(Debug, Error)]
pub enum Error {
    // names
    #[error("`{text}`: URL must be in format 'oci://<domain>/<org>/<repo>'")]
    InvalidReference { text: String },
    #[error("`{text}` is not a digest")]
    InvalidDigest { text: String },
    #[error("`{text}` is neither on a registry nor on disk")]
    InvalidLocation { text: String },

    // content
    #[error("manifest {digest} cannot be read: {reason}")]
    InvalidManifest { digest: Digest, reason: String },
    #[error("digest mismatch: the content is not {expected}")]
    DigestMismatch { expected: Digest },
    #[error("size mismatch: {digest} was announced with {expected} bytes and has another size")]
    SizeMismatch { digest: Digest, expected: u64 },

    // registries
    #[error("{what} was not found")]
    NotFound { what: String, exchange: String },
    #[error("{host} {} credentials (401 Unauthorized){}", if *shown { "refuses the" } else { "asks for" }, Detail(message))]
    Unauthorized { host: String, shown: bool, message: String, exchange: String },
    #[error("{what}: access is denied (403 Forbidden){}", Detail(message))]
    Forbidden { what: String, message: String, exchange: String },
    #[error("{host} limits the rate of requests{}", Detail(message))]
    RateLimited { host: String, message: String, exchange: String },
    #[error("{host} answered {status} to the request for {what}{}", Detail(message))]
    Refused { host: String, what: String, status: StatusCode, message: String, exchange: String },
    #[error("{host} cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    #[error("the connection to {host} broke: {reason}")]
    Interrupted { host: String, reason: String },
    #[error("{host} was too slow, timed out {doing}")]
    TimedOut { host: String, doing: &'static str },
    #[error("no secure connection to {host}: {reason}")]
    Tls { host: String, reason: String },
    #[error("{host} does not answer as a registry: {reason}")]
    NotARegistry { host: String, reason: String },
    #[error("the answer of {host} is refused: {reason}")]
    Protocol { host: String, reason: String },
    #[error("{host} does not take this much at once")]
    PiecesWanted { host: String },
    #[error("{what} is too large: the limit is {limit} bytes")]
    TooLarge { what: String, limit: u64 },
    #[error("{host} cannot delete {what}{}", Detail(message))]
    DeletionUnsupported { host: String, what: String, message: String },
    #[error("no credentials for {host}: {reason}")]
    Credentials { host: String, reason: String },
    #[error("`{}`: {reason}", path.display())]
    InvalidCertificate { path: PathBuf, reason: String },

    // layouts on disk and copies
    #[error("cannot use `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
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
    #[error("annotation not found: {digest} has no `{name}`")]
    AnnotationNotFound { digest: Digest, name: &'static str },
    #[error("checksum mismatch: the content of {digest} is not what its annotation says")]
    ChecksumMismatch { digest: Digest },
    #[error("encrypted artifact, you need to supply a private key for decryption")]
    Encrypted,
    #[error("encrypted artifact {digest} cannot be decrypted: {reason}")]
    Undecryptable { digest: Digest, reason: String },
    #[error("only the layouts of one text can be encrypted")]
    CannotEncrypt,
    #[error("{}: no age {kind} {}", file.display(), AtLine(*line))]
    InvalidKey { kind: &'static str, file: PathBuf, line: u32 },
    #[error("no layers found in image {digest}")]
    NoLayers { digest: Digest },
    #[error("invalid archive, manifest.yaml was not found after unpacking")]
    NoManifestFile,
    #[error("{digest} holds no manifests: it is {found}")]
    NotManifests { digest: Digest, found: String },
    #[error("index {digest} has no manifest for the platform linux/amd64")]
    NoPlatform { digest: Digest },
    #[error("layer {digest} has the unsupported media type `{media_type}`")]
    UnsupportedLayer { digest: Digest, media_type: String },
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    #[error("the artifact cannot be packed")]
    Packing {
        #[source]
        source: io::Error,
    },
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
    Sign(#[source] flumen_sign::KeyError),
}

impl Error {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidReference { .. } => {
                Some("an example: oci://registry.example.com/org/app:v1.0.0".to_owned())
            }
            Self::InvalidLocation { .. } => Some(
                "a registry is written oci://host/path:tag, a directory ./dir:tag, a tar file file.tar:tag"
                    .to_owned(),
            ),
            Self::AmbiguousLayout { place, tags } if !tags.is_empty() => Some(format!(
                "name one of its tags, as in `{}:{}`; it has {}",
                place.display(),
                tags[0],
                summary(tags)
            )),
            Self::NotFound { .. } => {
                Some("`flumen list artifacts` shows what is there; some registries also say this to who may not read".to_owned())
            }
            Self::Unauthorized { shown: true, .. } => {
                Some("check the user and the password; a token may have expired".to_owned())
            }
            Self::Unauthorized { shown: false, .. } => Some(
                "give `--creds user:password`, or log in so that Docker's configuration has them"
                    .to_owned(),
            ),
            Self::Forbidden { .. } => {
                Some("these credentials lack the permission for this repository".to_owned())
            }
            Self::RateLimited { .. } => {
                Some("wait, or log in: many registries allow more with credentials".to_owned())
            }
            Self::Refused { status, .. } if status.is_server_error() => {
                Some("the fault is on the side of the registry; try again later".to_owned())
            }
            Self::Unreachable { .. } => {
                Some("check the host and its port, and whether the registry is running".to_owned())
            }
            Self::TimedOut { .. } | Self::Interrupted { .. } => {
                Some("try again, or check the network between here and the registry".to_owned())
            }
            Self::Tls { .. } => Some(
                "`--ca-file` names an authority to trust; `--insecure-registry` is for registries \
                 without HTTPS"
                    .to_owned(),
            ),
            Self::NotARegistry { .. } => {
                Some("check the host and its port: something else may be listening there".to_owned())
            }
            Self::DeletionUnsupported { .. } => Some(
                "deletion may be disabled in the registry's configuration; deleting by digest \
                 removes every tag of the artifact"
                    .to_owned(),
            ),
            Self::Credentials { .. } => {
                Some("check Docker's configuration, or give `--creds user:password`".to_owned())
            }
            Self::NoSignature { .. } => {
                Some("`flumen sign artifact` signs it, `--key` says with which key".to_owned())
            }
            Self::SignatureOfOtherRepository { signed_as, .. } => Some(format!(
                "if this is a copy of that artifact and is meant to be, say `--signed-as {signed_as}`"
            )),
            Self::Encrypted => {
                Some("`--age-identities` names a file with the private key".to_owned())
            }
            Self::Unpack(error) if error.is_over_budget() => {
                Some("`--max-size` raises the limit, if you trust the artifact".to_owned())
            }
            _ => None,
        }
    }

    /// The request that a registry refused and its answer, as the Go libraries write them.
    pub fn exchange(&self) -> Option<&str> {
        match self {
            Self::NotFound { exchange, .. }
            | Self::Unauthorized { exchange, .. }
            | Self::Forbidden { exchange, .. }
            | Self::RateLimited { exchange, .. }
            | Self::Refused { exchange, .. } => Some(exchange),
            _ => None,
        }
    }

    pub(crate) const fn packing(source: io::Error) -> Self {
        Self::Packing { source }
    }

    /// Whether a place was asked and does not have it.
    pub const fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::NoSuchTag { .. } | Self::NotHeld { .. })
    }

    /// Whether the same request may succeed when it is sent again.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Interrupted { .. }
            | Self::TimedOut { .. }
            | Self::PiecesWanted { .. } => true,
            Self::Refused { status, .. } => status.is_server_error(),
            _ => false,
        }
    }
}

impl From<PackError> for Error {
    fn from(error: PackError) -> Self {
        match error {
            PackError::Io { path, source } => Self::Io { path, source },
            PackError::Write(source) => Self::packing(source),
            error => Self::packing(io::Error::other(error)),
        }
    }
}

/// The first few names; a layout can hold thousands.
fn summary(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and others") } else { shown }
}

/// What a registry said, if it said anything.
struct Detail<'a>(&'a str);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// The line of a file, or that there is none.
struct AtLine(u32);

impl fmt::Display for AtLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("in it") } else { write!(f, "on line {}", self.0) }
    }
}
