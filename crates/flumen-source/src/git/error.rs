//! Why there is no artifact of a repository.

use flumen_fs::FsError;
use flumen_git::{Error, GitReference, GitUrl, VerifyError};
use thiserror::Error as ThisError;

use crate::not_reached;

/// What went wrong, in the words of Flux. No message holds a credential.
#[derive(Debug, ThisError)]
pub enum GitError {
    #[error("failed to parse url '{url}': {reason}")]
    Url { url: String, reason: String },

    #[error("failed to configure proxy options: {0}")]
    Proxy(String),

    #[error("failed to configure authentication options: {0}")]
    Authentication(String),

    #[error(
        "SSH identity key is encrypted but no 'password' field was provided in the secret '{secret}'"
    )]
    EncryptedKey { secret: String },

    /// The provider, the Secret and the address do not go together.
    #[error("{reason}")]
    Provider { reason: String, is_final: bool },

    #[error("failed to checkout and determine revision: {reason}")]
    Checkout { reason: String, hint: Option<&'static str> },

    #[error("git repository is empty")]
    Empty,

    // The space is Flux's.
    #[error("failed to sparse checkout directories : {0}")]
    Sparse(String),

    #[error(transparent)]
    Unverified(VerifyError),

    #[error("path calculation for include '{name}' failed: {source}")]
    IncludePath { name: String, source: FsError },

    #[error("failed to copy '{name}' include from {from} to {to}: {reason}")]
    IncludeCopy { name: String, from: String, to: String, reason: String },

    #[error("failed to checkout and determine revision: the work was interrupted")]
    Interrupted,
}

impl GitError {
    /// The reason of the condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Url { .. } => "URLInvalid",
            Self::Proxy(_) | Self::Authentication(_) | Self::EncryptedKey { .. } => {
                "AuthenticationFailed"
            }
            Self::Provider { .. } => "InvalidProviderConfiguration",
            Self::Checkout { .. } | Self::Sparse(_) | Self::Interrupted => "GitOperationFailed",
            Self::Empty => "EmptyGitRepository",
            Self::Unverified(VerifyError::NoTag) => "InvalidVerificationMode",
            Self::Unverified(VerifyError::UnsignedTag { .. }) => "InvalidGitObject",
            Self::Unverified(VerifyError::Tag { .. }) => "InvalidTagSignature",
            Self::Unverified(VerifyError::Commit { .. }) => "InvalidCommitSignature",
            Self::IncludePath { .. } => "IllegalPath",
            Self::IncludeCopy { .. } => "CopyFailure",
        }
    }

    /// What the owner of the object can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Checkout { hint, .. } => *hint,
            Self::Unverified(VerifyError::Commit { .. } | VerifyError::Tag { .. }) => Some(
                "sign with a key of the Secret of spec.verify.secretRef, or add the signer's public key to it",
            ),
            _ => None,
        }
    }

    /// Whether trying again is of no use until somebody changes the object.
    pub fn is_stalling(&self) -> bool {
        match self {
            Self::Url { .. } | Self::Unverified(VerifyError::NoTag) => true,
            Self::Provider { is_final, .. } => *is_final,
            _ => false,
        }
    }

    /// Says what Flux says where it has words of its own; `what` was being done.
    pub(super) fn of_git(
        error: &Error,
        url: &GitUrl,
        reference: &GitReference,
        what: &str,
    ) -> Self {
        let general = || format!("unable to {what} '{url}': {}", without_url(error, url));
        let text = match error {
            Error::Empty { .. } => return Self::Empty,
            Error::NoDirectory { .. } => return Self::Sparse(error.to_string()),
            Error::Unreachable { reason, .. } if url.to_string().starts_with("http") => {
                let asked = format!("{url}/info/refs?service=git-upload-pack");
                format!("unable to {what} '{url}': {}", not_reached(&asked, reason))
            }
            Error::InvalidRange { reason, .. } => format!("semver parse error: {reason}"),
            Error::NoReference { reference: missing, .. } => {
                // What is not listed is asked for nevertheless, and that is what fails.
                let no_remote = |name: &str| {
                    format!("unable to clone '{url}': couldn't find remote ref \"{name}\"")
                };
                match reference {
                    GitReference::Semver(range) => format!("no match found for semver: {range}"),
                    GitReference::Full(name) if name.starts_with('/') || name.ends_with('/') => {
                        format!(
                            "ref {name} is invalid; Git refs cannot begin or end with a slash '/'"
                        )
                    }
                    GitReference::Full(name) => {
                        format!("unable to resolve ref '{name}' to a specific commit")
                    }
                    GitReference::Branch(name) => no_remote(&format!("refs/heads/{name}")),
                    GitReference::Tag(name) => no_remote(&format!("refs/tags/{name}")),
                    // Not even the branch is there.
                    GitReference::CommitOf { branch, .. } if *missing == reference.to_string() => {
                        no_remote(&format!("refs/heads/{branch}"))
                    }
                    GitReference::Commit(commit) | GitReference::CommitOf { commit, .. } => {
                        format!("unable to resolve commit object for '{commit}': object not found")
                    }
                    GitReference::Default | GitReference::Name(_) => general(),
                }
            }
            _ => general(),
        };
        Self::Checkout { reason: text, hint: hint(error) }
    }
}

/// What can be done in the object, or in what it names.
fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Unauthorized { were_given: false, .. } => {
            Some("name a Secret with credentials in spec.secretRef, or correct spec.url")
        }
        Error::Unauthorized { were_given: true, .. } => {
            Some("correct the credentials in the Secret of spec.secretRef")
        }
        Error::Refused { .. } => {
            Some("let the key in at the server, or correct it in the Secret of spec.secretRef")
        }
        Error::UnknownHost { .. } => Some(
            "compare with `ssh-keyscan`, and correct known_hosts in the Secret of spec.secretRef",
        ),
        Error::Status { status: 404, .. } => Some("correct spec.url"),
        _ => None,
    }
}

/// What an error says about an address that was named just before.
fn without_url(error: &Error, url: &GitUrl) -> String {
    let text = error.to_string();
    let rest = text.strip_prefix(&format!("'{url}' ")).unwrap_or(&text).to_owned();
    match std::error::Error::source(error) {
        Some(cause) => format!("{rest}: {cause}"),
        None => rest,
    }
}
