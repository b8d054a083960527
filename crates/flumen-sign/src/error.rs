//! Why a key cannot be used, and why a signature does not count.

use thiserror::Error;

/// Why a key could not be read or written. No variant carries any of its content.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    #[error("not a PEM file")]
    NotPem,
    #[error("holds a `{label}`, not a {expected}")]
    OtherContent { label: String, expected: &'static str },
    #[error("the key is of a kind that cannot be used here")]
    Unsupported,
    #[error("the key is encrypted in a form that is not cosign's")]
    OtherEncryption,
    #[error("the encrypted key is damaged: {reason}")]
    Damaged { reason: &'static str },
    #[error("opening the encrypted key would cost more work than is sensible")]
    TooExpensive,
    #[error("the password does not open the key")]
    WrongPassword,
    #[error("the key is encrypted and no password is given")]
    PasswordMissing,
    #[error("the cryptography library failed")]
    Failed,
}

impl KeyError {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OtherEncryption => {
                Some("`cosign import-key-pair` turns it into a key file of cosign")
            }
            Self::PasswordMissing => {
                Some("set COSIGN_PASSWORD, or name a file with `--password-file`")
            }
            Self::Unsupported => Some("ECDSA, Ed25519 and RSA keys of 2048 bits and more work"),
            _ => None,
        }
    }
}

/// Why a trusted root or a pattern cannot be used.
#[derive(Debug, Error)]
pub enum TrustError {
    #[error("the trusted root cannot be read: {reason}")]
    Root { reason: String },
    #[error("`{pattern}` is not a regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
}

/// Why a signature does not count.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    #[error("it was made with another key")]
    OtherKey,
    #[error("it was made by `{identity}`, vouched for by `{issuer}`")]
    OtherIdentity { identity: String, issuer: String },
    #[error("it was made with a certificate, and whose certificates count is not said")]
    NoIdentity,
    #[error("it is an attestation of type `{predicate}` and not a signature")]
    Attestation { predicate: String },
    #[error("its certificate or log entry does not hold: {reason}")]
    Untrusted { reason: String },
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
}

impl Refusal {
    pub(crate) fn unreadable(reason: &dyn ToString) -> Self {
        Self::Unreadable { reason: reason.to_string() }
    }
}
