//! Signatures of both forms, and whether they count.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sigstore_verify::types::{Bundle, bundle::VerificationMaterialContent};

use crate::{Claim, Identity, KeyError, PrivateKey, PublicKey, Refusal, TrustedRoot, bundle};

/// A signature as it was found, by anybody.
#[derive(Debug)]
pub struct Signature(Form);

#[derive(Debug)]
enum Form {
    /// A payload and its signature, which only a key can have made.
    Simple {
        payload: Vec<u8>,
        signature: Vec<u8>,
    },
    Bundle(Box<Bundle>),
}

/// Whose signatures count.
#[derive(Debug, Default)]
pub struct Trust {
    /// Any of these may have signed.
    pub keys: Vec<PublicKey>,
    /// Where certificates come from. If it is given, bundles made with a key must be in its logs too.
    pub root: Option<TrustedRoot>,
    /// Who may have signed with a certificate.
    pub identity: Option<Identity>,
}

/// A signature that counts: who made it, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attested {
    pub claim: Claim,
    pub signer: Signer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    /// Somebody who has the key with this [hint](PublicKey::hint).
    Key { hint: String },
    /// Somebody whom a certificate names.
    Identity { identity: String, issuer: String },
}

impl Signature {
    /// A payload and its signature in Base64.
    pub fn simple(payload: Vec<u8>, signature: &str) -> Result<Self, Refusal> {
        let signature = STANDARD.decode(signature).map_err(|error| Refusal::unreadable(&error))?;
        Ok(Self(Form::Simple { payload, signature }))
    }

    /// A bundle as JSON.
    pub fn bundle(json: &[u8]) -> Result<Self, Refusal> {
        let bundle = serde_json::from_slice(json).map_err(|error| Refusal::unreadable(&error))?;
        Ok(Self(Form::Bundle(Box::new(bundle))))
    }

    /// Who made it, if it is somebody who is trusted, and what it says.
    ///
    /// The claim still has to be compared with the content at hand.
    pub fn authenticate(&self, trust: &Trust) -> Result<Attested, Refusal> {
        match &self.0 {
            Form::Simple { payload, signature } => {
                // The payload is read only after it is known to be somebody's who is trusted.
                let key = trust.keys.iter().find(|key| key.verifies(payload, signature));
                let signer = key.map(Signer::from).ok_or(Refusal::OtherKey)?;
                Ok(Attested { claim: Claim::from_payload(payload)?, signer })
            }
            Form::Bundle(bundle) => authenticate_bundle(bundle, trust),
        }
    }
}

fn authenticate_bundle(bundle: &Bundle, trust: &Trust) -> Result<Attested, Refusal> {
    let claim = bundle::claim(bundle)?;
    let signer = match &bundle.verification_material.content {
        VerificationMaterialContent::PublicKey(_) => {
            let key = trust.keys.iter().find(|key| bundle::is_signed_with(bundle, key));
            let key = key.ok_or(Refusal::OtherKey)?;
            if let Some(root) = &trust.root {
                root.confirm(bundle, &claim, key)?;
            }
            Signer::from(key)
        }
        _ => match (&trust.root, &trust.identity) {
            (Some(root), Some(identity)) => root.signer(bundle, &claim, identity)?,
            _ => return Err(Refusal::NoIdentity),
        },
    };
    Ok(Attested { claim, signer })
}

impl From<&PublicKey> for Signer {
    fn from(key: &PublicKey) -> Self {
        Self::Key { hint: key.hint() }
    }
}

impl PrivateKey {
    /// Signs a claim as a payload. Returns the payload and its signature in Base64.
    pub fn sign_payload(&self, claim: &Claim) -> Result<(Vec<u8>, String), KeyError> {
        let payload = claim.to_payload()?;
        let signature = STANDARD.encode(self.sign(&payload)?);
        Ok((payload, signature))
    }

    /// Signs a claim as a bundle, in JSON.
    pub fn sign_bundle(&self, claim: &Claim) -> Result<Vec<u8>, KeyError> {
        bundle::sign(claim, self)
    }
}
