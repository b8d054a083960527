//! What can be wrong with a schema that a kustomization asks for.

use flumen_yaml::Pos;
use thiserror::Error;

#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// `openapi` has both `version` and `path`.
    #[error("builtin version and custom schema provided, cannot use both")]
    VersionAndDocument,

    /// `openapi.version` names a release that is not compiled in.
    #[error("the specified OpenAPI version is not built in")]
    UnknownVersion { version: String },

    /// The document of `openapi.path` is no YAML.
    #[error("invalid schema file: {message}")]
    Unreadable { message: String, pos: Pos },

    /// The document of `openapi.path` is YAML, but no `OpenAPI` document.
    #[error("invalid schema file: {message}")]
    Malformed { message: String, pos: Pos },
}

impl Error {
    /// The place in the document, where there is one.
    pub const fn pos(&self) -> Option<Pos> {
        match self {
            Self::Unreadable { pos, .. } | Self::Malformed { pos, .. } => Some(*pos),
            Self::VersionAndDocument | Self::UnknownVersion { .. } => None,
        }
    }
}
