//! Artifacts that only some may read.

use std::path::Path;

use age::secrecy::ExposeSecret as _;
use flumen_oci::{
    Error,
    artifact::{Format, Identities, PullOptions, Recipients, pack_encrypted, pull, pull_to_dir},
};

use super::{TestRegistry, YAML, metadata, tag};

/// A new key pair: what the recipients file and the identity file hold.
fn key_pair() -> (String, String) {
    let identity = age::x25519::Identity::generate();
    let secret = identity.to_string().expose_secret().to_owned();
    (format!("# team\n{}\n", identity.to_public()), format!("# key\n\n{secret}\n"))
}

fn identities(text: &str) -> PullOptions {
    let identities = Identities::parse(text, Path::new("key.txt")).expect("a key");
    PullOptions { identities: Some(identities), ..PullOptions::default() }
}

#[tokio::test]
async fn acceptance_16_only_the_key_opens_an_encrypted_artifact() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let (public, secret) = key_pair();
    let recipients = Recipients::parse(&public, Path::new("team.txt")).expect("a recipient");
    for format in [Format::Kustomizer, Format::Oci] {
        let packed =
            pack_encrypted(YAML.as_bytes(), format, &metadata(), &recipients).expect("packed");
        packed.push(&repository, Some("v1")).await.expect("pushed");
        let dir = tempfile::tempdir().expect("scratch directory");
        let left = || std::fs::read_dir(dir.path()).expect("listing").count();

        let none = PullOptions::default();
        let error = pull(&repository, &tag("v1"), &none).await.expect_err("no key");
        assert_eq!(
            error.to_string(),
            "encrypted artifact, you need to supply a private key for decryption"
        );
        pull_to_dir(&repository, &tag("v1"), dir.path(), &none).await.expect_err("no key");

        let wrong = identities(&key_pair().1);
        let error = pull(&repository, &tag("v1"), &wrong).await.expect_err("wrong key");
        assert!(matches!(error, Error::Undecryptable { .. }), "{error}");
        let reason = "cannot be decrypted: no given private key belongs to a recipient";
        assert!(error.to_string().ends_with(reason), "{error}");
        pull_to_dir(&repository, &tag("v1"), dir.path(), &wrong).await.expect_err("wrong key");
        assert_eq!(left(), 0, "a refusal leaves nothing");

        let right = identities(&secret);
        let pulled = pull(&repository, &tag("v1"), &right).await.expect("pulled");
        assert_eq!(pulled.yaml, YAML);
        assert_eq!(pulled.about.encryption.as_deref(), Some("age-encryption.org/v1"));
        let pulled = pull_to_dir(&repository, &tag("v1"), dir.path(), &right).await;
        assert_eq!(pulled.expect("pulled").files, [Path::new("all.yaml")]);
        let text = std::fs::read_to_string(dir.path().join("all.yaml")).expect("a file");
        assert_eq!((text.as_str(), left()), (YAML, 1));
    }
}

#[test]
fn keys_that_are_none_are_named_by_line_and_never_quoted() {
    let text = "# comment\nAGE-SECRET-KEY-1NOTAKEY\n";
    let error = Identities::parse(text, Path::new("key.txt")).expect_err("no key");
    assert_eq!(error.to_string(), "key.txt: no age identity on line 2");
    let error = Recipients::parse("\n", Path::new("team.txt")).expect_err("none");
    assert_eq!(error.to_string(), "team.txt: no age recipient in it");
    let (_, secret) = key_pair();
    let shown = format!("{:?}", Identities::parse(&secret, Path::new("key.txt")).expect("a key"));
    assert_eq!(shown, "Identities(1)");
}
