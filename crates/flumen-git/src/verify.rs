//! Signatures of commits and tags.
//!
//! What is said about them is what Flux says, word by word.

mod openpgp;
mod sshsig;

use std::time::SystemTime;

use thiserror::Error as ThisError;

use crate::{Checkout, Signed};

/// What must be signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerificationMode {
    /// The commit.
    #[default]
    Head,
    /// The annotated tag that led to the commit.
    Tag,
    TagAndHead,
}

/// The public keys that may sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedKeys {
    /// Armored `OpenPGP` keys, any number in each.
    pub openpgp: Vec<String>,
    /// Lines as in an `authorized_keys` file, any number in each.
    pub ssh: Vec<String>,
}

/// What was found to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub text: String,
}

/// Why a commit is not to be trusted.
#[derive(Debug, ThisError)]
pub enum VerifyError {
    /// The request cannot be met, whatever the repository holds.
    #[error("cannot verify tag object's signature if a tag reference is not specified")]
    NoTag,

    #[error("cannot verify signature of tag '{tag}' since it is not signed")]
    UnsignedTag { tag: String },

    #[error("signature verification of tag '{tag}' failed: {reason}")]
    Tag { tag: String, reason: String },

    #[error("signature verification of commit '{commit}' failed: {reason}")]
    Commit { commit: String, reason: String },
}

impl VerificationMode {
    fn wants_tag(self) -> bool {
        matches!(self, Self::Tag | Self::TagAndHead)
    }

    fn wants_head(self) -> bool {
        matches!(self, Self::Head | Self::TagAndHead)
    }
}

/// Checks that a commit, or the tag that led to it, is signed by one of some keys. Keys that have
/// expired by `now` do not count.
pub fn verify(
    mode: VerificationMode,
    keys: &TrustedKeys,
    checkout: &Checkout,
    now: SystemTime,
) -> Result<Verified, VerifyError> {
    let mut lines = vec!["verified signature of".to_owned()];
    if mode.wants_tag() {
        let found = checkout.tag.as_ref().ok_or(VerifyError::NoTag)?;
        let tag = match &found.id {
            Some(id) => format!("{}@{id}", found.name),
            None => found.name.clone(),
        };
        let Some(signed) = &found.signed else { return Err(VerifyError::UnsignedTag { tag }) };
        match signer(signed, keys, now, "tag") {
            Ok(key) => lines.push(format!("tag '{tag}' with key '{key}'")),
            Err(reason) => return Err(VerifyError::Tag { tag, reason }),
        }
    }
    if mode.wants_head() {
        let commit = checkout.commit.clone();
        let signed = checkout.metadata.signed.as_ref();
        let signer = match signed {
            Some(signed) => signer(signed, keys, now, "commit"),
            None => Err("unsupported signature type: empty".to_owned()),
        };
        match signer {
            Ok(key) => lines.push(format!("commit '{commit}' with key '{key}'")),
            Err(reason) => return Err(VerifyError::Commit { commit, reason }),
        }
    }
    Ok(Verified { text: lines.join("\n\t- ") })
}

/// The key that made a signature, or why there is none.
fn signer(
    signed: &Signed,
    keys: &TrustedKeys,
    now: SystemTime,
    what: &str,
) -> Result<String, String> {
    let missing = |kind: &str, suffix: &str| {
        format!(
            "{kind} signature detected but no {kind} public keys found in secret \
             (keys with {suffix} suffix)"
        )
    };
    match Format::of(&signed.signature) {
        Format::OpenPgp if keys.openpgp.is_empty() => Err(missing("PGP", ".asc")),
        Format::OpenPgp => openpgp::signer(signed, &keys.openpgp, now)
            .map_err(|reason| format!("unable to verify Git {what}: {reason}")),
        Format::Ssh if keys.ssh.is_empty() => Err(missing("SSH", ".sshpub")),
        Format::Ssh => sshsig::signer(signed, &keys.ssh)
            .map_err(|reason| format!("unable to verify Git {what} SSH signature: {reason}")),
        Format::X509 => Err("unsupported signature type: x509".to_owned()),
        Format::Unknown => Err("unsupported signature type: unknown".to_owned()),
    }
}

/// What a signature looks like.
enum Format {
    OpenPgp,
    Ssh,
    X509,
    Unknown,
}

impl Format {
    fn of(signature: &str) -> Self {
        match signature.trim_start() {
            text if text.starts_with("-----BEGIN PGP SIGNATURE-----") => Self::OpenPgp,
            text if text.starts_with("-----BEGIN SSH SIGNATURE-----") => Self::Ssh,
            text if text.starts_with("-----BEGIN SIGNED MESSAGE-----") => Self::X509,
            _ => Self::Unknown,
        }
    }
}
