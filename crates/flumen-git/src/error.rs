//! Why a repository or a file could not be had.

use std::io;

use thiserror::Error as ThisError;

/// What went wrong. Addresses in messages are without credentials.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The text itself is not shown: it may hold a password.
    #[error("not the URL of a repository: {reason}")]
    InvalidUrl { reason: String },

    #[error("'{url}' is reached over ssh, and there is no key for it")]
    NoIdentity { url: String },

    #[error("'{url}' is reached over ssh, and no known host is given to compare it with")]
    NoKnownHosts { url: String },

    /// Keys and certificates themselves are not shown.
    #[error("{what} cannot be used")]
    Unusable { what: &'static str },

    /// A private key; what is in it is not shown.
    #[error("the ssh key {reason}")]
    Identity { reason: &'static str },

    #[error("{host} shows a key of type {kind} that is not among its known ones")]
    UnknownHost { host: String, kind: String },

    #[error("{host} shows a key of type {kind} that is marked as revoked")]
    RevokedHost { host: String, kind: String },

    #[error("{host} does not accept the key of type {kind} from user {user}")]
    Refused { host: String, user: String, kind: String },

    #[error("'{url}' is not a Git repository")]
    NotARepository { url: String },

    #[error("'{url}' has no {reference}")]
    NoReference { url: String, reference: String },

    #[error("'{url}' is empty")]
    Empty { url: String },

    #[error("'{range}' is no range of versions: {reason}")]
    InvalidRange { range: String, reason: String },

    #[error("sparse checkout dir '{directory}' does not exist in repository")]
    NoDirectory { directory: String },

    #[error("submodule '{path}' of '{url}' {reason}")]
    Submodule { url: String, path: String, reason: &'static str },

    #[error("{reference} of '{url}' is no commit")]
    NotACommit { url: String, reference: String },

    #[error("'{url}' asks for credentials")]
    Unauthorized { url: String, were_given: bool },

    #[error("'{url}' answered with status {status}")]
    Status { url: String, status: u16 },

    #[error("'{url}' cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },

    /// In the words of the other side.
    #[error("'{url}' refuses: {reason}")]
    Rejected { url: String, reason: String },

    #[error("'{url}' redirects {reason}")]
    Redirected { url: String, reason: &'static str },

    #[error("'{url}' took longer than {seconds} s")]
    TimedOut { url: String, seconds: u64 },

    #[error("'{url}' sends more than {limit} bytes")]
    TooLarge { url: String, limit: u64 },

    #[error("'{url}' sends more than {limit} objects")]
    TooManyObjects { url: String, limit: u32 },

    #[error("fetching '{url}' was cancelled")]
    Cancelled { url: String },

    #[error("'{url}' cannot be read: {reason}")]
    Broken { url: String, reason: String },

    #[error("cannot prepare to fetch")]
    Scratch(#[source] io::Error),
}

impl Error {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoIdentity { .. } => Some("use https, or give a private key"),
            Self::UnknownHost { .. } => {
                Some("compare with `ssh-keyscan`, and add the key to known_hosts if it is right")
            }
            Self::NoReference { .. } => {
                Some("is the name spelled as in the repository? Commits need all their digits")
            }
            Self::Unauthorized { were_given: false, .. } => {
                Some("is the name right? For a private place use https://USER:TOKEN@host/…")
            }
            Self::Unauthorized { were_given: true, .. } => {
                Some("user, password or token in the URL were not accepted")
            }
            Self::Status { status: 404, .. } => Some("is the address spelled right?"),
            Self::TooLarge { .. } | Self::TooManyObjects { .. } => Some(
                "a smaller repository, or a branch of its own for manifests, is fetched faster",
            ),
            _ => None,
        }
    }
}

/// All that an error has to say, causes included, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text.replace('\n', " ")
}
