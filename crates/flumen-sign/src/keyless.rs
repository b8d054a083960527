//! Signatures whose makers are known by name: a certificate authority vouches for who held a key for
//! some minutes, and a log or a time stamp for when it was used.

use std::fmt;

use regex_lite::Regex;
use sigstore_verify::{
    PublicKeyVerificationPolicy, VerificationPolicy, Verifier,
    trust_root::TrustedRoot as RootDocument,
    types::{Bundle, DerPublicKey},
};

use crate::{Claim, PublicKey, Refusal, Signer, TrustError, bundle::artifact_digest};

/// The authorities and logs that a deployment of sigstore consists of.
///
/// What the document lists is required of a signature: with logs in it, a signature must be in one;
/// without, a time stamp of one of its authorities suffices.
pub struct TrustedRoot {
    verifier: Verifier,
    has_logs: bool,
    has_certificate_logs: bool,
}

/// Whose signatures are wanted.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The subject of the certificate: an address or the URI of a workflow.
    pub subject: Pattern,
    /// Who the subject logged in with.
    pub issuer: Pattern,
}

/// A text, or what it must look like.
#[derive(Clone, Debug)]
pub enum Pattern {
    Exact(String),
    /// Not anchored, as cosign's are not.
    Matching(Regex),
}

impl Pattern {
    pub fn matching(pattern: &str) -> Result<Self, TrustError> {
        Regex::new(pattern).map(Self::Matching).map_err(|error| TrustError::Pattern {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(expected) => expected == text,
            Self::Matching(pattern) => pattern.is_match(text),
        }
    }
}

impl TrustedRoot {
    /// Reads the `trusted_root.json` that sigstore publishes and `cosign trusted-root create` writes.
    pub fn from_json(json: &str) -> Result<Self, TrustError> {
        let document = RootDocument::from_json(json)
            .map_err(|error| TrustError::Root { reason: error.to_string() })?;
        let verifier = Verifier::new(&document)
            .map_err(|error| TrustError::Root { reason: error.to_string() })?;
        Ok(Self {
            verifier,
            has_logs: !document.tlogs.is_empty(),
            has_certificate_logs: !document.ctlogs.is_empty(),
        })
    }

    /// Who made a bundle that carries a certificate.
    pub(crate) fn signer(
        &self,
        bundle: &Bundle,
        claim: &Claim,
        wanted: &Identity,
    ) -> Result<Signer, Refusal> {
        let mut policy = VerificationPolicy::any_identity();
        if !self.has_logs {
            policy = policy.skip_tlog_unsafe();
        }
        if !self.has_certificate_logs {
            policy = policy.skip_sct();
        }
        let result = self.verify(bundle, claim, &policy)?;
        let identity = result.identity().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let issuer = result.issuer().unwrap_or_default().to_owned();
        if wanted.subject.matches(&identity) && wanted.issuer.matches(&issuer) {
            Ok(Signer::Identity { identity, issuer })
        } else {
            Err(Refusal::OtherIdentity { identity, issuer })
        }
    }

    /// Whether a bundle that was made with a key is in the logs.
    pub(crate) fn confirm(
        &self,
        bundle: &Bundle,
        claim: &Claim,
        key: &PublicKey,
    ) -> Result<(), Refusal> {
        let key = DerPublicKey::new(key.der().to_vec());
        let mut policy = PublicKeyVerificationPolicy::new(key);
        if !self.has_logs {
            policy = policy.skip_tlog_unsafe();
        }
        self.verify(bundle, claim, &policy).map(drop)
    }

    /// Checks a bundle against what it claims itself; whether that is what is wanted comes later.
    fn verify(
        &self,
        bundle: &Bundle,
        claim: &Claim,
        policy: &dyn sigstore_verify::Policy,
    ) -> Result<sigstore_verify::VerificationResult, Refusal> {
        let digest = artifact_digest(&claim.digest)
            .ok_or_else(|| Refusal::unreadable(&"it names no digest"))?;
        self.verifier
            .verify(digest, bundle, policy)
            .map_err(|error| Refusal::Untrusted { reason: error.to_string() })
    }
}

impl fmt::Debug for TrustedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrustedRoot")
    }
}
