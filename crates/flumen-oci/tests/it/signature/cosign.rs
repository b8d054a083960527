//! The real cosign verifies what is signed here, and what it signs verifies here.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use flumen_oci::{
    Repository,
    signature::{self, Placement, SignOptions},
};
use flumen_sign::{Password, PrivateKey, PublicKey};
use flumen_testkit::{RealRegistry, RegistryKind, skip, tool};
use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, RsaKeySize};
use tempfile::TempDir;

use super::places::{Embedded, new_key, push, remote, signed_with};

const PASSWORD: &str = "secret";

const FORMS: [(Placement, &str); 2] = [
    (Placement::Referrer, "--new-bundle-format=true"),
    (Placement::Tag, "--new-bundle-format=false"),
];

/// cosign with keys in a directory of its own.
struct Cosign {
    program: PathBuf,
    directory: TempDir,
}

impl Cosign {
    fn find() -> Option<Self> {
        let Some(program) = tool("cosign") else {
            skip("signatures judged by `cosign`", "`cargo xtask tools` provides it");
            return None;
        };
        Some(Self { program, directory: tempfile::tempdir().expect("a directory") })
    }

    fn output(&self, arguments: &[&str]) -> Output {
        Command::new(&self.program)
            .args(arguments)
            .current_dir(self.directory.path())
            .env("HOME", self.directory.path())
            .env("COSIGN_PASSWORD", PASSWORD)
            // Without it cosign does not write payloads as referrers.
            .env("COSIGN_EXPERIMENTAL", "1")
            .output()
            .expect("cosign starts")
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) {
        let output = self.output(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cosign {arguments:?}: {complaint}");
    }

    /// Writes a key as cosign's files, `NAME.key` and `NAME.pub`.
    fn write_key(&self, name: &str, key: &PrivateKey) {
        let private = key.to_encrypted_pem(&Password::new(PASSWORD)).expect("encrypted");
        let path = self.directory.path().join(name);
        fs::write(path.with_extension("key"), private).expect("written");
        fs::write(path.with_extension("pub"), key.public_key().to_pem()).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).expect("written by cosign")
    }

    #[track_caller]
    fn sign(&self, name: &str, artifact: &str, more: &[&str]) {
        let key = format!("--key={name}.key");
        let quietly = ["sign", "--yes", "--tlog-upload=false", "--use-signing-config=false", &key];
        self.run(&[&quietly, more, &[artifact]].concat());
    }

    fn verify(&self, name: &str, artifact: &str, more: &[&str]) -> Output {
        let key = format!("--key={name}.pub");
        let offline = ["verify", "--insecure-ignore-tlog=true", &key];
        self.output(&[&offline, more, &[artifact]].concat())
    }
}

/// A key of each kind, and what cosign must be told to verify with it.
fn keys() -> Vec<(&'static str, PrivateKey, &'static str)> {
    let from = |pair: Result<KeyPair, rcgen::Error>| {
        PrivateKey::from_pem(&pair.expect("a key").serialize_pem(), None).expect("a key")
    };
    let sha256 = "--signature-digest-algorithm=sha256";
    vec![
        ("ecdsa", new_key(), sha256),
        ("ed25519", from(KeyPair::generate_for(&PKCS_ED25519)), sha256),
        (
            "rsa",
            from(KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048)),
            sha256,
        ),
        // cosign signs with SHA-384 here and does not know it when it verifies.
        (
            "p384",
            from(KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)),
            "--signature-digest-algorithm=sha384",
        ),
    ]
}

async fn exchange(
    cosign: &Cosign,
    host: &str,
    (name, key, hash): &(&'static str, PrivateKey, &'static str),
) {
    let repository = remote(host, "org/app");
    cosign.write_key(name, key);
    for (placement, form) in FORMS {
        let ours = push(&repository, &format!("{name} {placement:?} ours")).await;
        let options = SignOptions { placement, signed_as: None };
        signature::sign(&repository, &ours, key, &options).await.expect("signed");
        let artifact = format!("{host}/org/app@{}", ours.digest);
        let output = cosign.verify(name, &artifact, &[form, hash]);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {placement:?}: {complaint}");

        let theirs = push(&repository, &format!("{name} {placement:?} theirs")).await;
        cosign.sign(name, &format!("{host}/org/app@{}", theirs.digest), &[form]);
        let verified = signature::verify(&repository, &theirs, &signed_with(key)).await;
        verified.unwrap_or_else(|error| panic!("{name} {placement:?}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_every_kind_on_the_embedded_registry() {
    let Some(cosign) = Cosign::find() else { return };
    let registry = Embedded::start().await;
    for key in keys() {
        exchange(&cosign, &registry.host(), &key).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_registries_without_referrers() {
    let Some(cosign) = Cosign::find() else { return };
    for kind in RegistryKind::ALL {
        let Some(registry) = RealRegistry::start(kind) else { continue };
        exchange(&cosign, registry.host(), &keys()[0]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_cosign_makes_sign_here() {
    let Some(cosign) = Cosign::find() else { return };
    cosign.run(&["generate-key-pair"]);
    let key = PrivateKey::from_pem(&cosign.read("cosign.key"), Some(&Password::new(PASSWORD)));
    let key = key.expect("opened");
    assert_eq!(Ok(key.public_key()), PublicKey::from_pem(&cosign.read("cosign.pub")).as_ref());
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let descriptor = push(&repository, "content").await;
    signature::sign(&repository, &descriptor, &key, &SignOptions::default()).await.expect("signed");
    let artifact = format!("{}/org/app@{}", registry.host(), descriptor.digest);
    let output = cosign.verify("cosign", &artifact, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    cosign.write_key("other", &new_key());
    assert!(!cosign.verify("other", &artifact, &[]).status.success(), "signed by another key");
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_of_both_stay_beside_each_other() {
    let Some(cosign) = Cosign::find() else { return };
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    for (placement, form) in FORMS {
        let descriptor = push(&repository, &format!("{placement:?}")).await;
        let artifact = format!("{}/org/app@{}", registry.host(), descriptor.digest);
        let options = SignOptions { placement, signed_as: None };
        let [first, between, last] = [new_key(), new_key(), new_key()];
        for (name, key) in [("first", &first), ("between", &between), ("last", &last)] {
            cosign.write_key(name, key);
        }
        signature::sign(&repository, &descriptor, &first, &options).await.expect("signed");
        cosign.sign("between", &artifact, &[form]);
        signature::sign(&repository, &descriptor, &last, &options).await.expect("signed");
        for (name, key) in [("first", &first), ("between", &between), ("last", &last)] {
            let output = cosign.verify(name, &artifact, &[form]);
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} {placement:?}: {complaint}");
            let verified = signature::verify(&repository, &descriptor, &signed_with(key)).await;
            verified.unwrap_or_else(|error| panic!("{name} {placement:?}: {error}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_that_refer_to_their_subject_are_found() {
    let Some(cosign) = Cosign::find() else { return };
    let registry = Embedded::start().await;
    let repository: Repository = registry.repository("org/app");
    let descriptor = push(&repository, "content").await;
    let artifact = format!("{}/org/app@{}", registry.host(), descriptor.digest);
    let key = new_key();
    cosign.write_key("key", &key);
    let more = ["--new-bundle-format=false", "--registry-referrers-mode=oci-1-1"];
    cosign.sign("key", &artifact, &more);
    assert_eq!(repository.tags().await.expect("tags"), ["v1"], "no tag was made");
    let verified = signature::verify(&repository, &descriptor, &signed_with(&key)).await;
    verified.expect("verified");
}
