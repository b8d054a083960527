//! What can go wrong with an `OCIRepository`, as its conditions say it.

use std::error::Error as _;

use thiserror::Error;

use crate::not_reached;

/// Where a failure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionType {
    FetchFailed,
    StorageOperationFailed,
    /// Is bad when it is false.
    SourceVerified,
}

/// Why there is no new artifact. Messages are Flux's.
#[derive(Debug, Error)]
pub enum Error {
    #[error("failed to get credential: {reason}")]
    Credential { reason: String },
    #[error("failed to get proxy address: {reason}")]
    Proxy { reason: String },
    #[error("failed to generate transport for '{url}': {reason}")]
    Transport { url: String, reason: String },
    #[error("URL validation failed for '{url}': {reason}")]
    Url { url: String, reason: String },
    #[error("failed to determine the artifact tag for '{url}': {reason}")]
    Tag { url: String, reason: String },
    #[error("failed to determine artifact digest: {reason}")]
    Digest { reason: String },
    #[error("failed to verify the signature using provider '{provider}': {reason}")]
    Verification { provider: &'static str, reason: String },
    #[error("failed to pull artifact from '{url}': {reason}")]
    Pull { url: String, reason: String },
    #[error("no layers found in artifact")]
    NoLayers,
    #[error("failed to find layer with media type '{media_type}' in artifact")]
    NoSuchLayer { media_type: String },
    #[error("failed to extract layer contents from artifact: {reason}")]
    Extract { reason: String },
    #[error("failed to copy layer from artifact: {reason}")]
    Copy { reason: String },
    #[error("failed to load source ignore patterns from repository: {reason}")]
    Ignore { reason: String },
    #[error("unable to archive artifact to storage: {reason}")]
    Archive { reason: String },
}

impl Error {
    pub(super) const fn digest(reason: String) -> Self {
        Self::Digest { reason }
    }

    /// The reason that conditions and events name.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Credential { .. } | Self::Proxy { .. } | Self::Transport { .. } => {
                "AuthenticationFailed"
            }
            Self::Url { .. } => "URLInvalid",
            Self::Tag { .. } => "ReadOperationFailed",
            Self::Digest { .. } | Self::Pull { .. } => "OCIArtifactPullFailed",
            Self::Verification { .. } => "VerificationError",
            Self::NoLayers
            | Self::NoSuchLayer { .. }
            | Self::Extract { .. }
            | Self::Copy { .. } => "OCIArtifactLayerOperationFailed",
            Self::Ignore { .. } => "SourceIgnoreError",
            Self::Archive { .. } => "ArchiveOperationFailed",
        }
    }

    /// Whether only another spec can help.
    pub const fn is_stalling(&self) -> bool {
        matches!(self, Self::Url { .. })
    }

    /// The condition that shows it beside `Ready`.
    pub const fn condition(&self) -> ConditionType {
        match self {
            Self::Verification { .. } => ConditionType::SourceVerified,
            Self::Ignore { .. } | Self::Archive { .. } => ConditionType::StorageOperationFailed,
            _ => ConditionType::FetchFailed,
        }
    }
}

/// An error of the registry in the words of the Go library behind Flux, as far as they are known.
pub(super) fn words(error: &flumen_oci::Error, allows_plain_http: bool) -> String {
    if let Some(exchange) = error.exchange() {
        return exchange.to_owned();
    }
    if let flumen_oci::Error::Unreachable { host, reason } = error {
        let schemes = if allows_plain_http { &["https", "http"][..] } else { &["https"] };
        let tries =
            schemes.iter().map(|scheme| not_reached(&format!("{scheme}://{host}/v2/"), reason));
        return tries.collect::<Vec<_>>().join("; ");
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_connection_is_told_as_flux_tells_it() {
        let error = flumen_oci::Error::Unreachable {
            host: "127.0.0.1:1".to_owned(),
            reason: "Connection refused (os error 111)".to_owned(),
        };
        assert_eq!(
            words(&error, true),
            "Get \"https://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused; \
             Get \"http://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused"
        );
        let error = flumen_oci::Error::Unreachable {
            host: "registry.example.com".to_owned(),
            reason: "no such host".to_owned(),
        };
        assert_eq!(words(&error, false), "Get \"https://registry.example.com/v2/\": no such host");
    }
}
