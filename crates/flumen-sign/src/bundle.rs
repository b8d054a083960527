//! Bundles: a signature together with what is needed to check it, as one JSON document.

use sigstore_verify::types::{
    ArtifactDigest, Bundle, DsseEnvelope, DsseSignature, HashAlgorithm, KeyId, PayloadBytes,
    Sha256Hash, SignatureBytes, SignatureContent, Statement,
    bundle::{
        MediaType, MessageDigest, PublicKeyIdentifier, VerificationMaterial,
        VerificationMaterialContent,
    },
    intoto::{Digest as SubjectDigest, Subject},
};

use crate::{Claim, KeyError, PrivateKey, PublicKey, Refusal};

/// The media type of the bundles that are written here.
pub const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// What the media types of all versions begin with.
pub const MEDIA_TYPE_PREFIX: &str = "application/vnd.dev.sigstore.bundle";
/// Says that a statement is a plain signature and not an attestation about something else.
pub const PREDICATE_TYPE: &str = "https://sigstore.dev/cosign/sign/v1";

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Writes a bundle that makes this claim.
///
/// cosign names no repository in its own. It stands here as the name of the subject, where cosign
/// ignores it and we find it, so that a signature cannot be carried to another repository.
pub(crate) fn sign(claim: &Claim, key: &PrivateKey) -> Result<Vec<u8>, KeyError> {
    let statement = Statement::new(
        vec![Subject::new(
            claim.repository.clone().unwrap_or_default(),
            subject_digest(&claim.digest).ok_or(KeyError::Failed)?,
        )],
        PREDICATE_TYPE,
        serde_json::Value::Object(serde_json::Map::new()),
    );
    let payload = serde_json::to_vec(&statement).map_err(|_| KeyError::Failed)?;
    let mut envelope = DsseEnvelope::new(
        PAYLOAD_TYPE,
        PayloadBytes::new(payload),
        DsseSignature::new(SignatureBytes::new(Vec::new()), KeyId::default()),
    );
    envelope.signature.sig = SignatureBytes::new(key.sign(&envelope.pae())?);
    let hint = PublicKeyIdentifier::new(key.public_key().hint());
    let bundle = Bundle::new(
        MediaType::Bundle0_3,
        VerificationMaterial::new(VerificationMaterialContent::PublicKey(hint)),
        SignatureContent::DsseEnvelope(envelope),
    );
    serde_json::to_vec(&bundle).map_err(|_| KeyError::Failed)
}

/// What a bundle says, before anybody has looked at who says it.
pub(crate) fn claim(bundle: &Bundle) -> Result<Claim, Refusal> {
    match &bundle.content {
        SignatureContent::MessageSignature(signature) => {
            let digest = signature
                .message_digest
                .as_ref()
                .ok_or_else(|| Refusal::unreadable(&"it names no digest"))?;
            Ok(Claim { digest: message_digest(digest)?, repository: None })
        }
        SignatureContent::DsseEnvelope(envelope) => claim_of_statement(envelope),
        _ => Err(Refusal::unreadable(&"it holds no signature")),
    }
}

fn claim_of_statement(envelope: &DsseEnvelope) -> Result<Claim, Refusal> {
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(Refusal::unreadable(&format!("its payload is `{}`", envelope.payload_type)));
    }
    let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
        .map_err(|error| Refusal::unreadable(&error))?;
    if statement.predicate_type != PREDICATE_TYPE {
        return Err(Refusal::Attestation { predicate: statement.predicate_type });
    }
    let [subject] = &statement.subject[..] else {
        return Err(Refusal::unreadable(&"it is not for one artifact"));
    };
    let digest = match &subject.digest {
        SubjectDigest { sha256: Some(hash), .. } => format!("sha256:{}", hash.to_hex()),
        SubjectDigest { sha512: Some(hash), .. } => format!("sha512:{}", hash.to_hex()),
        _ => return Err(Refusal::unreadable(&"it names no digest")),
    };
    let repository = Some(subject.name.clone()).filter(|name| !name.is_empty());
    Ok(Claim { digest, repository })
}

/// Whether this key made the bundle's signature.
pub(crate) fn is_signed_with(bundle: &Bundle, key: &PublicKey) -> bool {
    match &bundle.content {
        SignatureContent::MessageSignature(signature) => {
            signature.message_digest.as_ref().is_some_and(|digest| {
                digest.algorithm == HashAlgorithm::Sha2256
                    && key.verifies_sha256(digest.digest.as_bytes(), signature.signature.as_bytes())
            })
        }
        SignatureContent::DsseEnvelope(envelope) => {
            key.verifies(&envelope.pae(), envelope.signature.sig.as_bytes())
        }
        _ => false,
    }
}

/// A digest that a claim names, as the libraries of sigstore want it.
pub(crate) fn artifact_digest(digest: &str) -> Option<ArtifactDigest> {
    let digest = subject_digest(digest)?;
    match (digest.sha256, digest.sha512) {
        (Some(hash), _) => ArtifactDigest::new(HashAlgorithm::Sha2256, hash.as_bytes().to_vec()),
        (None, Some(hash)) => ArtifactDigest::new(HashAlgorithm::Sha2512, hash.as_bytes().to_vec()),
        (None, None) => return None,
    }
    .ok()
}

fn subject_digest(digest: &str) -> Option<SubjectDigest> {
    let (algorithm, hex) = digest.split_once(':')?;
    let json = serde_json::json!({ algorithm: hex });
    matches!(algorithm, "sha256" | "sha512").then(|| serde_json::from_value(json).ok()).flatten()
}

fn message_digest(digest: &MessageDigest) -> Result<String, Refusal> {
    match digest.algorithm {
        HashAlgorithm::Sha2256 => {
            let hash = Sha256Hash::try_from(digest.digest.as_bytes())
                .map_err(|error| Refusal::unreadable(&error))?;
            Ok(format!("sha256:{}", hash.to_hex()))
        }
        other => Err(Refusal::unreadable(&format!("its digest is one of {other}"))),
    }
}
