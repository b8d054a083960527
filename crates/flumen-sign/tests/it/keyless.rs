//! Signatures that are made with certificates, and logs.

use flumen_sign::{
    Attested, Identity, Pattern, PrivateKey, Refusal, Signature, Signer, Trust, TrustedRoot,
};
use serde_json::Value;

use crate::deployment::{Deployment, Event, NOON};

const SUBJECT: &str = "release@example.com";
const ISSUER: &str = "https://login.example.com";
const DAY: i64 = 24 * 60 * 60;

fn digest() -> String {
    "0123456789abcdef".repeat(4)
}

fn event(digest: &str) -> Event<'_> {
    Event { subject: SUBJECT, issuer: ISSUER, digest, time: NOON }
}

fn exactly(subject: &str, issuer: &str) -> Identity {
    Identity {
        subject: Pattern::Exact(subject.to_owned()),
        issuer: Pattern::Exact(issuer.to_owned()),
    }
}

fn trust(deployment: &Deployment, identity: Identity) -> Trust {
    let root = TrustedRoot::from_json(&deployment.trusted_root()).expect("a root");
    Trust { root: Some(root), identity: Some(identity), ..Trust::default() }
}

fn authenticate(bundle: &Value, trust: &Trust) -> Result<Attested, Refusal> {
    Signature::bundle(bundle.to_string().as_bytes())?.authenticate(trust)
}

#[track_caller]
fn refuse_untrusted(bundle: &Value, trust: &Trust) {
    let refusal = authenticate(bundle, trust).expect_err("refused");
    assert!(matches!(refusal, Refusal::Untrusted { .. }), "{refusal}");
}

#[test]
fn a_certificate_names_the_signer() {
    let deployment = Deployment::new();
    let bundle = deployment.sign(&event(&digest()));
    let patterns = Identity {
        subject: Pattern::matching("@example\\.com$").expect("a pattern"),
        issuer: Pattern::matching("^https://login\\.").expect("a pattern"),
    };
    for identity in [exactly(SUBJECT, ISSUER), patterns] {
        let attested = authenticate(&bundle, &trust(&deployment, identity)).expect("counts");
        assert_eq!(attested.claim.digest, format!("sha256:{}", digest()));
        let signer = Signer::Identity { identity: SUBJECT.to_owned(), issuer: ISSUER.to_owned() };
        assert_eq!(attested.signer, signer);
    }
}

#[test]
fn others_do_not_count() {
    let deployment = Deployment::new();
    let bundle = deployment.sign(&event(&digest()));
    for identity in [
        exactly("other@example.com", ISSUER),
        exactly(SUBJECT, "https://other.example.com"),
        exactly("", ""),
    ] {
        let refusal = authenticate(&bundle, &trust(&deployment, identity)).expect_err("refused");
        let found =
            Refusal::OtherIdentity { identity: SUBJECT.to_owned(), issuer: ISSUER.to_owned() };
        assert_eq!(refusal, found);
    }
}

#[test]
fn without_a_root_no_certificate_counts() {
    let bundle = Deployment::new().sign(&event(&digest()));
    let refusal = authenticate(&bundle, &Trust::default()).expect_err("refused");
    assert_eq!(refusal, Refusal::NoIdentity);
}

#[test]
fn certificates_of_another_authority_do_not_count() {
    let bundle = Deployment::new().sign(&event(&digest()));
    refuse_untrusted(&bundle, &trust(&Deployment::new(), exactly(SUBJECT, ISSUER)));
}

#[test]
fn a_signature_after_the_certificate_expired_does_not_count() {
    let deployment = Deployment::new();
    let bundle = deployment.sign(&Event { time: NOON + DAY, ..event(&digest()) });
    refuse_untrusted(&bundle, &trust(&deployment, exactly(SUBJECT, ISSUER)));
}

#[test]
fn what_was_changed_afterwards_does_not_count() {
    let deployment = Deployment::new();
    let trust = trust(&deployment, exactly(SUBJECT, ISSUER));
    let digest = digest();
    let [bundle, other] = [(); 2].map(|()| deployment.sign(&event(&digest)));
    for path in [
        "/verificationMaterial/certificate",
        "/verificationMaterial/tlogEntries/0/canonicalizedBody",
        "/verificationMaterial/tlogEntries/0/inclusionPromise",
        "/verificationMaterial/tlogEntries/0/inclusionProof",
        "/verificationMaterial/tlogEntries/0",
        "/dsseEnvelope/signatures",
    ] {
        let mut changed = bundle.clone();
        let part = changed.pointer_mut(path).expect(path);
        *part = other.pointer(path).expect(path).clone();
        assert_ne!(changed, bundle, "{path}");
        refuse_untrusted(&changed, &trust);
    }
    let mut unlogged = bundle;
    unlogged["verificationMaterial"]["tlogEntries"] = Value::Array(Vec::new());
    refuse_untrusted(&unlogged, &trust);
}

#[test]
fn with_a_root_signatures_with_keys_must_be_in_the_log() {
    let deployment = Deployment::new();
    let key = PrivateKey::generate().expect("a key");
    let mut trust = trust(&deployment, exactly(SUBJECT, ISSUER));
    trust.keys = vec![key.public_key().clone()];
    let digest = digest();
    let mut bundle = deployment.sign_with(&key, &event(&digest));
    authenticate(&bundle, &trust).expect("counts");
    bundle["verificationMaterial"]["tlogEntries"] = Value::Array(Vec::new());
    refuse_untrusted(&bundle, &trust);
    trust.root = None;
    authenticate(&bundle, &trust).expect("counts");
}

#[test]
fn roots_and_patterns_can_be_wrong() {
    for text in ["", "{}", "[]", "{\"mediaType\": 1}"] {
        assert!(TrustedRoot::from_json(text).is_err(), "{text}");
    }
    let error = Pattern::matching("(").expect_err("refused");
    assert!(error.to_string().starts_with("`(` is not a regular expression: "), "{error}");
}
