use aws_lc_rs::{
    encoding::{EcPrivateKeyRfc5915Der, Pkcs8V1Der},
    rsa::KeySize,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::SigningKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};

use super::*;
use crate::{Claim, Refusal, Signature, Signer, Trust};

/// What `cosign generate-key-pair` wrote with the password `secret`, and its public half.
const COSIGN_KEY: &str = "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----
eyJrZGYiOnsibmFtZSI6InNjcnlwdCIsInBhcmFtcyI6eyJOIjo2NTUzNiwiciI6
OCwicCI6MX0sInNhbHQiOiJTNWxiRU5BWDIvMG1nSFJsYmhPZWlMdlIycnE5RlVC
eCtVVG55a1lOdncwPSJ9LCJjaXBoZXIiOnsibmFtZSI6Im5hY2wvc2VjcmV0Ym94
Iiwibm9uY2UiOiJnVFl5MUxDTVdpN1QvN1hBSGxxcG9FWWNLTnhZK2RHYSJ9LCJj
aXBoZXJ0ZXh0IjoiK1FCWkZvQWxBd05FL2tOTEdOTXJrYndkTWM4QVR1WmJXb1Z0
QWRTcDU4dGVGSEwzd0c5cVl2ZVZIMkxaVmwxcUVBNklpb2dYV1FwUTRwdnMveFFk
R3N5cXNxNnpncWlTYVhmeUpMT2FXOVBTM0xZU25uVlpiREF3dlNQVFdmTitGb29l
Wjh0K3pwdUJjTURrR1NWR1RPbTdjNEpFYXcvWHFqUTBGMDF5TE45ZHZvYzNCQ3Zm
ekFDMWhTdUt2R04vWXJiUVN2bGttQWZDSWc9PSJ9
-----END ENCRYPTED SIGSTORE PRIVATE KEY-----";
const COSIGN_PUBLIC_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESxPGOvQm5v2i9R4XM8H2QEJYZOk6
rnCErb+HfDNUJ+f3TOb4YldkRLqQCQqJTw9esUeb490z8u54zUK/CbUZ7g==
-----END PUBLIC KEY-----
";

/// One key of each kind, as PEM.
fn keys() -> Vec<(&'static str, String)> {
    let mut keys = Vec::new();
    for (name, curve) in ["P-256", "P-384", "P-521"].into_iter().zip(CURVES) {
        let pair = EcdsaKeyPair::generate(curve).expect("a key");
        keys.push((name, pem::write("PRIVATE KEY", pair.to_pkcs8v1().expect("pkcs8").as_ref())));
        let sec1: EcPrivateKeyRfc5915Der<'_> = pair.private_key().as_der().expect("sec1");
        keys.push((name, pem::write("EC PRIVATE KEY", sec1.as_ref())));
    }
    let ed25519 = Ed25519KeyPair::generate().expect("a key");
    for document in [ed25519.to_pkcs8v1(), ed25519.to_pkcs8()] {
        keys.push(("Ed25519", pem::write("PRIVATE KEY", document.expect("pkcs8").as_ref())));
    }
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
    let pkcs8: Pkcs8V1Der<'_> = rsa.as_der().expect("pkcs8");
    keys.push(("RSA", pem::write("PRIVATE KEY", pkcs8.as_ref())));
    // PKCS #1 is what PKCS #8 wraps: the header of a 2048-bit key has 26 bytes.
    keys.push(("RSA", pem::write("RSA PRIVATE KEY", &pkcs8.as_ref()[26..])));
    keys
}

fn claim() -> Claim {
    Claim {
        digest: format!("sha256:{}", "0123456789abcdef".repeat(4)),
        repository: Some("registry.example.com/org/app".to_owned()),
    }
}

fn trust(key: &PrivateKey) -> Trust {
    Trust { keys: vec![key.public_key().clone()], ..Trust::default() }
}

/// The claim in both forms.
fn signatures(key: &PrivateKey, claim: &Claim) -> [Signature; 2] {
    let (payload, signature) = key.sign_payload(claim).expect("signed");
    let bundle = key.sign_bundle(claim).expect("signed");
    [
        Signature::simple(payload, &signature).expect("readable"),
        Signature::bundle(&bundle).expect("readable"),
    ]
}

#[test]
fn keys_of_every_kind_sign_and_verify() {
    let other = PrivateKey::generate().expect("a key");
    for (name, text) in keys() {
        let key = PrivateKey::from_pem(&text, None).expect(name);
        for signature in signatures(&key, &claim()) {
            let attested = signature.authenticate(&trust(&key)).expect(name);
            assert_eq!(attested.claim, claim(), "{name}");
            let Signer::Key { hint } = attested.signer else { panic!("{name}: not a key") };
            assert_eq!(hint, key.public_key().hint(), "{name}");
            let refusal = signature.authenticate(&trust(&other)).expect_err(name);
            assert_eq!(refusal, Refusal::OtherKey, "{name}");
        }
    }
}

#[test]
fn public_keys_survive_pem() {
    for (name, text) in keys() {
        let key = PrivateKey::from_pem(&text, None).expect(name);
        let public = PublicKey::from_pem(&key.public_key().to_pem()).expect(name);
        assert_eq!(&public, key.public_key(), "{name}");
    }
}

#[test]
fn keys_survive_encryption() {
    let password = Password::new("pass word");
    let key = PrivateKey::generate().expect("a key");
    let text = key.to_encrypted_pem(&password).expect("encrypted");
    let read = PrivateKey::from_pem(&text, Some(&password)).expect("opened");
    assert_eq!(read.public_key(), key.public_key());
    let missing = PrivateKey::from_pem(&text, None).expect_err("refused");
    assert_eq!(missing, KeyError::PasswordMissing);
}

#[test]
fn keys_of_cosign_are_opened() {
    let old = COSIGN_KEY.replace(ENCRYPTED_LABEL, OLD_ENCRYPTED_LABEL);
    for text in [COSIGN_KEY, &old] {
        let key = PrivateKey::from_pem(text, Some(&Password::new("secret"))).expect("opened");
        assert_eq!(key.public_key().to_pem(), COSIGN_PUBLIC_KEY);
    }
    let wrong = PrivateKey::from_pem(COSIGN_KEY, Some(&Password::new("Secret")));
    assert_eq!(wrong.expect_err("refused"), KeyError::WrongPassword);
}

#[test]
fn other_files_are_refused() {
    for (label, expected) in [
        ("CERTIFICATE", "holds a `CERTIFICATE`, not a private key"),
        ("PUBLIC KEY", "holds a `PUBLIC KEY`, not a private key"),
        ("PRIVATE KEY", "the key is of a kind that cannot be used here"),
        ("ENCRYPTED PRIVATE KEY", "the key is encrypted in a form that is not cosign's"),
        (ENCRYPTED_LABEL, "the encrypted key is damaged: not JSON"),
    ] {
        let text = pem::write(label, b"something else");
        let error = PrivateKey::from_pem(&text, None).expect_err(label);
        assert_eq!(error.to_string(), expected);
    }
    let private = pem::write("PRIVATE KEY", b"");
    let error = PublicKey::from_pem(&private).expect_err("refused");
    assert_eq!(error.to_string(), "holds a `PRIVATE KEY`, not a public key");
}

#[test]
fn a_changed_payload_is_nobodys() {
    let key = PrivateKey::generate().expect("a key");
    let (mut payload, signature) = key.sign_payload(&claim()).expect("signed");
    let last = payload.len() - 3;
    payload[last] ^= 1;
    let signature = Signature::simple(payload, &signature).expect("readable");
    assert_eq!(signature.authenticate(&trust(&key)).expect_err("refused"), Refusal::OtherKey);
}

#[test]
fn signatures_of_the_content_itself_count() {
    let key = PrivateKey::generate().expect("a key");
    let hash = Sha256::digest(b"content");
    let mut bundle = json!({
        "mediaType": crate::BUNDLE_MEDIA_TYPE,
        "verificationMaterial": { "publicKey": { "hint": "" } },
        "messageSignature": {
            "messageDigest": { "algorithm": "SHA2_256", "digest": STANDARD.encode(hash) },
            "signature": STANDARD.encode(key.sign(b"content").expect("signed")),
        },
    });
    let authenticate = |bundle: &Value| {
        Signature::bundle(bundle.to_string().as_bytes())?.authenticate(&trust(&key))
    };
    let attested = authenticate(&bundle).expect("counts");
    let digest = "sha256:ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    assert_eq!(attested.claim, Claim { digest: digest.to_owned(), repository: None });

    let other = STANDARD.encode(Sha256::digest(b"other"));
    bundle["messageSignature"]["messageDigest"]["digest"] = other.into();
    assert_eq!(authenticate(&bundle).expect_err("refused"), Refusal::OtherKey);
    bundle["messageSignature"]["messageDigest"] = Value::Null;
    let refusal = authenticate(&bundle).expect_err("refused");
    assert_eq!(refusal.to_string(), "it cannot be read: it names no digest");
}

#[test]
fn ed25519_signs_messages_and_their_hashes() {
    let seed = [7; 32];
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("a key");
    let signature = SigningKey::from_bytes(&seed)
        .sign_prehashed(Sha512::new_with_prefix(b"message"), None)
        .expect("signed")
        .to_bytes();
    let key = PrivateKey::new(Pair::Ed25519(pair)).expect("a key");
    assert!(key.public_key().verifies(b"message", &signature));
    assert!(!key.public_key().verifies(b"other", &signature));
    assert!(key.public_key().verifies(b"message", &key.sign(b"message").expect("signed")));
}

#[test]
fn attestations_are_no_signatures() {
    let key = PrivateKey::generate().expect("a key");
    let bundle = key.sign_bundle(&claim()).expect("signed");
    let mut bundle: Value = serde_json::from_slice(&bundle).expect("JSON");
    let payload = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "digest": { "sha256": "0123456789abcdef".repeat(4) } }],
        "predicateType": "https://example.com/scan",
    });
    bundle["dsseEnvelope"]["payload"] = STANDARD.encode(payload.to_string()).into();
    let signature = Signature::bundle(bundle.to_string().as_bytes()).expect("readable");
    let refusal = signature.authenticate(&trust(&key)).expect_err("refused");
    assert_eq!(refusal, Refusal::Attestation { predicate: "https://example.com/scan".to_owned() });
}

#[test]
fn secrets_do_not_show() {
    let key = PrivateKey::generate().expect("a key");
    let shown = format!("{key:?} {:?}", Password::new("hunter2"));
    assert_eq!(shown, format!("PrivateKey {{ public: {:?}, .. }} Password", key.public_key()));
}
