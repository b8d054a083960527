//! Why a repository or a file could not be had.

use std::io;

use thiserror::Error as ThisError;

/// What went wrong. Addresses in messages are without credentials.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The text itself is not shown: it may hold a password.
    #[error("not the URL of a repository: {reason}")]
    InvalidUrl { reason: String },

    #[error("'{url}' is reached over ssh, which is not available yet")]
    Ssh { url: String },

    #[error("'{url}' is not a Git repository")]
    NotARepository { url: String },

    #[error("'{url}' has no {reference}")]
    NoReference { url: String, reference: String },

    #[error("{reference} of '{url}' is no commit")]
    NotACommit { url: String, reference: String },

    #[error("'{url}' asks for credentials")]
    Unauthorized { url: String, were_given: bool },

    #[error("'{url}' answered with status {status}")]
    Status { url: String, status: u16 },

    #[error("'{url}' cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },

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
            Self::Ssh { .. } => Some("ssh comes with the controller; use https"),
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
