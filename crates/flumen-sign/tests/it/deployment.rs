//! A certificate authority and a transparency log, as much of them as signatures show.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_sign::PrivateKey;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// 2024-01-01 at noon: certificates are valid on that day.
pub(crate) const NOON: i64 = 1_704_110_400;

/// Where the authority writes who vouches for the subject.
const ISSUER_EXTENSION: [u64; 9] = [1, 3, 6, 1, 4, 1, 57264, 1, 8];

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

pub(crate) struct Deployment {
    authority: Issuer<'static, KeyPair>,
    authority_der: Vec<u8>,
    log: PrivateKey,
}

/// Who signs when.
pub(crate) struct Event<'a> {
    pub(crate) subject: &'a str,
    pub(crate) issuer: &'a str,
    pub(crate) digest: &'a str,
    pub(crate) time: i64,
}

impl Deployment {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            authority_der: certificate.der().to_vec(),
            authority: Issuer::new(params, key),
            log: PrivateKey::generate().expect("a key"),
        }
    }

    /// The document that makes others trust it.
    pub(crate) fn trusted_root(&self) -> String {
        let log = der(&self.log.public_key().to_pem());
        let since = json!({ "start": "2020-01-01T00:00:00Z" });
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "certificateAuthorities": [{
                "subject": { "organization": "example", "commonName": "example" },
                "uri": "https://fulcio.example.com",
                "certChain": { "certificates": [{ "rawBytes": STANDARD.encode(&self.authority_der) }] },
                "validFor": since,
            }],
            "tlogs": [{
                "baseUrl": "https://rekor.example.com",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": STANDARD.encode(&log),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": { "keyId": STANDARD.encode(Sha256::digest(&log)) },
            }],
            "ctlogs": [],
            "timestampAuthorities": [],
        })
        .to_string()
    }

    /// A bundle made with a certificate.
    pub(crate) fn sign(&self, event: &Event<'_>) -> Value {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.subject_alt_names =
            vec![SanType::Rfc822Name(event.subject.try_into().expect("a name"))];
        params.not_before = date_time_ymd(2024, 1, 1);
        params.not_after = date_time_ymd(2024, 1, 2);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let mut issuer = vec![0x0c, u8::try_from(event.issuer.len()).expect("short")];
        issuer.extend(event.issuer.bytes());
        params.custom_extensions =
            vec![CustomExtension::from_oid_content(&ISSUER_EXTENSION, issuer)];
        let certificate = params.signed_by(&key, &self.authority).expect("a certificate");

        let signer = PrivateKey::from_pem(&key.serialize_pem(), None).expect("a key");
        let material = json!({ "rawBytes": STANDARD.encode(certificate.der()) });
        self.bundle(event, &signer, &certificate.pem(), "certificate", &material)
    }

    /// A bundle made with a key, and entered into the log.
    pub(crate) fn sign_with(&self, key: &PrivateKey, event: &Event<'_>) -> Value {
        let material = json!({ "hint": key.public_key().hint() });
        self.bundle(event, key, &key.public_key().to_pem(), "publicKey", &material)
    }

    fn bundle(
        &self,
        event: &Event<'_>,
        signer: &PrivateKey,
        verifier: &str,
        material_kind: &str,
        material: &Value,
    ) -> Value {
        let payload = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{ "digest": { "sha256": event.digest } }],
            "predicateType": "https://sigstore.dev/cosign/sign/v1",
            "predicate": {},
        })
        .to_string();
        let signed =
            format!("DSSEv1 {} {PAYLOAD_TYPE} {} {payload}", PAYLOAD_TYPE.len(), payload.len());
        let signature = STANDARD.encode(signer.sign(signed.as_bytes()).expect("signed"));
        let entry = self.entry(event, &payload, &signature, verifier);
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": { material_kind: material, "tlogEntries": [entry] },
            "dsseEnvelope": {
                "payload": STANDARD.encode(&payload),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [{ "sig": signature }],
            },
        })
    }

    /// The entry of a signature in a log that has no other.
    fn entry(&self, event: &Event<'_>, payload: &str, signature: &str, verifier: &str) -> Value {
        let hash = json!({ "algorithm": "sha256", "value": hex(&Sha256::digest(payload)) });
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": hash,
                "payloadHash": hash,
                "signatures": [{ "signature": signature, "verifier": STANDARD.encode(verifier) }],
            },
        })
        .to_string();
        let log_id = Sha256::digest(der(&self.log.public_key().to_pem()));
        let promise = json!({
            "body": STANDARD.encode(&body),
            "integratedTime": event.time,
            "logID": hex(&log_id),
            "logIndex": 0,
        })
        .to_string();
        let promise = self.log.sign(promise.as_bytes()).expect("signed");

        let root = Sha256::new_with_prefix([0]).chain_update(&body).finalize();
        let note = format!("rekor.example.com\n1\n{}\n", STANDARD.encode(root));
        let mut note_signature = log_id[..4].to_vec();
        note_signature.extend(self.log.sign(note.as_bytes()).expect("signed"));
        let note_signature = STANDARD.encode(note_signature);
        json!({
            "logIndex": "0",
            "logId": { "keyId": STANDARD.encode(log_id) },
            "kindVersion": { "kind": "dsse", "version": "0.0.1" },
            "integratedTime": event.time.to_string(),
            "inclusionPromise": { "signedEntryTimestamp": STANDARD.encode(promise) },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": STANDARD.encode(root),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {
                    "envelope": format!("{note}\n\u{2014} rekor.example.com {note_signature}\n"),
                },
            },
            "canonicalizedBody": STANDARD.encode(&body),
        })
    }
}

fn der(pem: &str) -> Vec<u8> {
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    STANDARD.decode(text).expect("a key")
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|n| char::from_digit(n.into(), 16))
        .collect()
}
