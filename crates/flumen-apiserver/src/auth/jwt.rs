//! Signed tokens: the key of the server and what it signs.

use std::fmt;

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
        UnparsedPublicKey,
    },
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::AuthError;
use crate::state::StateDir;

const FILE: &str = "service-account.key";

/// The key that signs tokens of service accounts. It is kept, so that tokens outlive a restart.
pub(super) struct Signer {
    key: EcdsaKeyPair,
    id: String,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Signer {
    pub(super) fn open(state: &StateDir) -> Result<Self, AuthError> {
        let document = if let Some(text) = state.read(FILE)? {
            STANDARD.decode(text.trim()).map_err(|_| AuthError::Key)?
        } else {
            let of = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let new = EcdsaKeyPair::generate_pkcs8(of, &SystemRandom::new())
                .map_err(|_| AuthError::Key)?;
            state.write(FILE, &format!("{}\n", STANDARD.encode(new.as_ref())))?;
            new.as_ref().to_vec()
        };
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &document)
            .map_err(|_| AuthError::Key)?;
        let id = URL_SAFE_NO_PAD.encode(Sha256::digest(key.public_key().as_ref()));
        Ok(Self { key, id })
    }

    /// A token with these claims.
    pub(super) fn sign(&self, claims: &Value) -> Option<String> {
        let header = json!({ "alg": "ES256", "kid": self.id });
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The claims of a token that this key signed. The algorithm that a token names is not asked.
    pub(super) fn verify(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (_, claims) = signed.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    /// The public key, for others who verify tokens.
    pub(super) fn key_set(&self) -> Value {
        let point = self.key.public_key().as_ref();
        // An uncompressed point: a mark, then both coordinates.
        let (x, y) = point.get(1..).unwrap_or_default().split_at(point.len() / 2);
        json!({ "keys": [{
            "use": "sig",
            "kty": "EC",
            "kid": self.id,
            "crv": "P-256",
            "alg": "ES256",
            "x": URL_SAFE_NO_PAD.encode(x),
            "y": URL_SAFE_NO_PAD.encode(y),
        }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_signature_counts() {
        let signer = Signer::open(&StateDir(None)).expect("it works");
        let claims = json!({ "sub": "someone" });
        let token = signer.sign(&claims).expect("it works");
        assert_eq!(signer.verify(&token), Some(claims));
        let other = Signer::open(&StateDir(None)).expect("it works");
        assert_eq!(other.verify(&token), None);
        let (head, _) = token.rsplit_once('.').expect("it works");
        assert_eq!(signer.verify(&format!("{head}.")), None);
        let unsigned = URL_SAFE_NO_PAD.encode("{\"alg\":\"none\"}");
        assert_eq!(signer.verify(&format!("{unsigned}.{unsigned}.")), None);
        assert_eq!(signer.verify("nope"), None);
    }

    #[test]
    fn the_key_is_kept() {
        let dir = tempfile::tempdir().expect("it works");
        let state = StateDir(Some(dir.path().to_owned()));
        let token = Signer::open(&state).expect("it works").sign(&json!({})).expect("it works");
        assert!(Signer::open(&state).expect("it works").verify(&token).is_some());
    }
}
