//! Public keys: the half that verifies.

use std::fmt;

use aws_lc_rs::{
    digest,
    encoding::{AsDer as _, PublicKeyX509Der},
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
        ECDSA_P521_SHA256_ASN1, ECDSA_P521_SHA512_ASN1, ED25519, ParsedPublicKey,
        RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
    },
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest as _, Sha512};

use crate::{KeyError, pem};

const LABEL: &str = "PUBLIC KEY";
const RSA_LABEL: &str = "RSA PUBLIC KEY";

/// One row for each kind of key: the hash functions that cosign has used with it.
///
/// Its older versions hash with SHA-256 whatever the curve, newer ones with the hash that fits the curve.
static KINDS: [&[&dyn VerificationAlgorithm]; 5] = [
    &[&ECDSA_P256_SHA256_ASN1],
    &[&ED25519],
    &[&RSA_PKCS1_2048_8192_SHA256],
    &[&ECDSA_P384_SHA384_ASN1, &ECDSA_P384_SHA256_ASN1],
    &[&ECDSA_P521_SHA512_ASN1, &ECDSA_P521_SHA256_ASN1],
];

/// What precedes the 32 bytes of an Ed25519 key in its encoding.
const ED25519_HEADER: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// A key that signatures are checked with.
#[derive(Clone)]
pub struct PublicKey {
    der: Vec<u8>,
    /// The same key once for each hash function.
    parsed: Vec<ParsedPublicKey>,
    /// The same once more if it is one of Ed25519: cosign 3 signs a hash of the message with those,
    /// though older versions sign the message, and it verifies only the latter.
    prehashed: Option<VerifyingKey>,
}

impl PublicKey {
    /// Reads the PEM text that cosign and openssl write.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let block = pem::read(text)?;
        if ![LABEL, RSA_LABEL].contains(&block.label) {
            return Err(KeyError::OtherContent {
                label: block.label.to_owned(),
                expected: "public key",
            });
        }
        Self::from_der(&block.content)
    }

    pub(crate) fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let parse = |algorithms: &[&'static dyn VerificationAlgorithm]| {
            algorithms
                .iter()
                .map(|algorithm| ParsedPublicKey::new(*algorithm, der).ok())
                .collect::<Option<Vec<_>>>()
        };
        let parsed =
            KINDS.iter().find_map(|algorithms| parse(algorithms)).ok_or(KeyError::Unsupported)?;
        let der: PublicKeyX509Der<'_> = parsed[0].as_der().map_err(|_| KeyError::Unsupported)?;
        let prehashed = der
            .as_ref()
            .strip_prefix(&ED25519_HEADER)
            .and_then(|key| VerifyingKey::try_from(key).ok());
        Ok(Self { der: der.as_ref().to_vec(), parsed, prehashed })
    }

    pub fn to_pem(&self) -> String {
        pem::write(LABEL, &self.der)
    }

    /// The key as a `SubjectPublicKeyInfo`.
    pub(crate) fn der(&self) -> &[u8] {
        &self.der
    }

    /// The name that bundles give a key: the hash of its encoding.
    pub fn hint(&self) -> String {
        STANDARD.encode(digest::digest(&digest::SHA256, &self.der))
    }

    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.parsed.iter().any(|key| key.verify_sig(message, signature).is_ok())
            || self.verifies_prehashed(message, signature)
    }

    fn verifies_prehashed(&self, message: &[u8], signature: &[u8]) -> bool {
        let Some(key) = &self.prehashed else { return false };
        ed25519_dalek::Signature::from_slice(signature).is_ok_and(|signature| {
            let hash = Sha512::new_with_prefix(message);
            key.verify_prehashed_strict(hash, None, &signature).is_ok()
        })
    }

    /// The same where only the message's SHA-256 is known. Ed25519 cannot do it.
    pub(crate) fn verifies_sha256(&self, hash: &[u8], signature: &[u8]) -> bool {
        digest::Digest::import_less_safe(hash, &digest::SHA256).is_ok_and(|hash| {
            self.parsed.iter().any(|key| key.verify_digest_sig(&hash, signature).is_ok())
        })
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.hint()).finish()
    }
}
