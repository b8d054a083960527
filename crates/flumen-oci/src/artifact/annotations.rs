//! Names of annotations.

use jiff::Timestamp;

pub(super) const VERSION: &str = "kustomizer.dev/version";
pub(super) const CHECKSUM: &str = "kustomizer.dev/checksum";
pub(crate) const KUSTOMIZER_CREATED: &str = "kustomizer.dev/created";
pub(super) const ENCRYPTED: &str = "kustomizer.dev/encrypted";

/// The only value of [`ENCRYPTED`].
pub(super) const AGE: &str = "age-encryption.org/v1";

pub(crate) const CREATED: &str = "org.opencontainers.image.created";
pub(crate) const SOURCE: &str = "org.opencontainers.image.source";
pub(crate) const REVISION: &str = "org.opencontainers.image.revision";
pub(super) const TITLE: &str = "org.opencontainers.image.title";

/// UTC to the second, as RFC 3339 writes it.
pub(super) fn time(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}
