//! Private keys: the half that signs.

use std::fmt;

use aws_lc_rs::{
    encoding::{AsDer as _, PublicKeyX509Der},
    error::{KeyRejected, Unspecified},
    rand::SystemRandom,
    rsa::KeyPair as RsaKeyPair,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING,
        ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair,
        KeyPair as _, RSA_PKCS1_SHA256,
    },
};

use crate::{KeyError, Password, PublicKey, encrypted, pem};

const ENCRYPTED_LABEL: &str = "ENCRYPTED SIGSTORE PRIVATE KEY";
/// What cosign wrote before version 2.
const OLD_ENCRYPTED_LABEL: &str = "ENCRYPTED COSIGN PRIVATE KEY";

static CURVES: [&EcdsaSigningAlgorithm; 3] = [
    &ECDSA_P256_SHA256_ASN1_SIGNING,
    &ECDSA_P384_SHA384_ASN1_SIGNING,
    &ECDSA_P521_SHA512_ASN1_SIGNING,
];

/// A key that makes signatures. Its content shows nowhere.
pub struct PrivateKey {
    pair: Pair,
    public: PublicKey,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl PrivateKey {
    /// A new ECDSA key on P-256, the kind that cosign makes.
    pub fn generate() -> Result<Self, KeyError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING)
            .map_err(|_| KeyError::Failed)?;
        Self::new(Pair::Ecdsa(pair))
    }

    /// Reads a key file: cosign's, or PKCS #8, SEC 1 and PKCS #1 without encryption.
    ///
    /// No password is the same as an empty one, which cosign allows.
    pub fn from_pem(text: &str, password: Option<&Password>) -> Result<Self, KeyError> {
        let block = pem::read(text)?;
        let content = &block.content;
        let pair = match block.label {
            ENCRYPTED_LABEL | OLD_ENCRYPTED_LABEL => {
                let empty = Password::new([]);
                let opened = encrypted::open(content, password.unwrap_or(&empty)).map_err(
                    |error| match (error, password) {
                        (KeyError::WrongPassword, None) => KeyError::PasswordMissing,
                        (error, _) => error,
                    },
                )?;
                Pair::from_pkcs8(&opened)
            }
            "PRIVATE KEY" => Pair::from_pkcs8(content),
            "EC PRIVATE KEY" => {
                Pair::on_a_curve(|curve| EcdsaKeyPair::from_private_key_der(curve, content))
            }
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(content).ok().map(Pair::Rsa),
            "ENCRYPTED PRIVATE KEY" => return Err(KeyError::OtherEncryption),
            label => {
                return Err(KeyError::OtherContent {
                    label: label.to_owned(),
                    expected: "private key",
                });
            }
        };
        Self::new(pair.ok_or(KeyError::Unsupported)?)
    }

    fn new(pair: Pair) -> Result<Self, KeyError> {
        let der: PublicKeyX509Der<'_> = match &pair {
            Pair::Ecdsa(pair) => pair.public_key().as_der(),
            Pair::Ed25519(pair) => pair.public_key().as_der(),
            Pair::Rsa(pair) => pair.public_key().as_der(),
        }
        .map_err(|_| KeyError::Failed)?;
        let public = PublicKey::from_der(der.as_ref())?;
        Ok(Self { pair, public })
    }

    /// The key as a file of cosign that the password opens.
    pub fn to_encrypted_pem(&self, password: &Password) -> Result<String, KeyError> {
        let failed = |_: Unspecified| KeyError::Failed;
        let sealed = match &self.pair {
            Pair::Ecdsa(pair) => {
                encrypted::seal(pair.to_pkcs8v1().map_err(failed)?.as_ref(), password)
            }
            Pair::Ed25519(pair) => {
                encrypted::seal(pair.to_pkcs8v1().map_err(failed)?.as_ref(), password)
            }
            Pair::Rsa(pair) => encrypted::seal(pair.as_der().map_err(failed)?.as_ref(), password),
        }?;
        Ok(pem::write(ENCRYPTED_LABEL, &sealed))
    }

    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let failed = |_: Unspecified| KeyError::Failed;
        let random = SystemRandom::new();
        Ok(match &self.pair {
            Pair::Ecdsa(pair) => pair.sign(&random, message).map_err(failed)?.as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.try_sign(message).map_err(failed)?.as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                signature
            }
        })
    }
}

impl Pair {
    fn from_pkcs8(der: &[u8]) -> Option<Self> {
        Self::on_a_curve(|curve| EcdsaKeyPair::from_pkcs8(curve, der))
            // Version 1 of the format has no public key to check against, and is what cosign writes.
            .or_else(|| Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Self::Ed25519))
            .or_else(|| RsaKeyPair::from_pkcs8(der).ok().map(Self::Rsa))
    }

    fn on_a_curve(
        read: impl Fn(&'static EcdsaSigningAlgorithm) -> Result<EcdsaKeyPair, KeyRejected>,
    ) -> Option<Self> {
        CURVES.iter().find_map(|curve| read(curve).ok()).map(Self::Ecdsa)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
