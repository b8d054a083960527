//! Each way in which a signature does not do has its own message.

use flumen_oci::{
    BlobStream, Descriptor, Document, RawManifest, Repository, Target, media_type,
    signature::{self, Placement, Policy, SignOptions},
};
use serde_json::json;

use super::places::{Embedded, new_key, push, signed_with};

const PLACEMENTS: [Placement; 2] = [Placement::Referrer, Placement::Tag];

/// The message without the digest, which is another one each time.
async fn refusal(repository: &Repository, descriptor: &Descriptor, policy: &Policy) -> String {
    let error = signature::verify(repository, descriptor, policy).await.expect_err("refused");
    let mut message = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message.replace(&descriptor.digest.to_string(), "DIGEST")
}

fn signature_tag(descriptor: &Descriptor) -> Target {
    Target::Tag(format!("sha256-{}.sig", descriptor.digest.hex()))
}

#[tokio::test]
async fn nothing_is_signed() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let descriptor = push(&repository, "content").await;
    let message = refusal(&repository, &descriptor, &signed_with(&new_key())).await;
    assert_eq!(message, "no signatures found for DIGEST");
}

#[tokio::test]
async fn another_key_has_signed() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    for placement in PLACEMENTS {
        let descriptor = push(&repository, &format!("{placement:?}")).await;
        let options = SignOptions { placement, signed_as: None };
        let signed = signature::sign(&repository, &descriptor, &new_key(), &options).await;
        signed.expect("signed");
        let message = refusal(&repository, &descriptor, &signed_with(&new_key())).await;
        let expected = "the signature of DIGEST does not count: it was made with another key";
        assert_eq!(message, expected, "{placement:?}");
    }
}

/// Puts the signature of one artifact beside another.
async fn transplant(repository: &Repository, from: &Descriptor, to: &Descriptor) {
    let tagged = repository.manifest(&signature_tag(from)).await.expect("signatures");
    let Target::Tag(tag) = signature_tag(to) else { unreachable!() };
    repository.put_manifest(&tagged, Some(&tag)).await.expect("stored");

    let referrers = repository.referrers(&from.digest, None).await.expect("referrers");
    let bundle = Target::Digest(referrers[0].digest.clone());
    let bundle = repository.manifest(&bundle).await.expect("a bundle");
    let Ok(Document::Manifest(mut manifest)) = bundle.parse() else { panic!("not a manifest") };
    manifest.subject = Some(to.clone());
    let moved = serde_json::to_vec(&manifest).expect("JSON");
    let moved = RawManifest::new(media_type::OCI_MANIFEST, moved);
    repository.put_manifest(&moved, None).await.expect("stored");
}

#[tokio::test]
async fn the_signature_is_for_another_artifact() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let signed = push(&repository, "signed").await;
    let unsigned = push(&repository, "unsigned").await;
    let key = new_key();
    let options = SignOptions { placement: Placement::Both, signed_as: None };
    signature::sign(&repository, &signed, &key, &options).await.expect("signed");
    transplant(&repository, &signed, &unsigned).await;
    let message = refusal(&repository, &unsigned, &signed_with(&key)).await;
    assert_eq!(message, format!("the signature found for DIGEST was made for {}", signed.digest));
}

#[tokio::test]
async fn the_signature_is_for_another_repository() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let host = registry.host();
    for placement in PLACEMENTS {
        let descriptor = push(&repository, &format!("{placement:?}")).await;
        let key = new_key();
        // The same as copying a signature of org/other here: the bytes are those that it has there.
        let signed_as = Some(format!("{host}/org/other"));
        let options = SignOptions { placement, signed_as: signed_as.clone() };
        signature::sign(&repository, &descriptor, &key, &options).await.expect("signed");
        let mut policy = signed_with(&key);
        let message = refusal(&repository, &descriptor, &policy).await;
        let expected = format!(
            "the signature of DIGEST was made for the repository `{host}/org/other` and not for \
             `{host}/org/app`"
        );
        assert_eq!(message, expected, "{placement:?}");
        policy.signed_as = signed_as;
        let verified = signature::verify(&repository, &descriptor, &policy).await;
        verified.expect("the verifier said so");
    }
}

#[tokio::test]
async fn garbage_does_not_hide_a_signature() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let descriptor = push(&repository, "content").await;
    put_bundle(&repository, &descriptor, b"not a bundle").await;
    let key = new_key();
    let message = refusal(&repository, &descriptor, &signed_with(&key)).await;
    let expected = "the signature of DIGEST does not count: it cannot be read: ";
    assert!(message.starts_with(expected), "{message}");

    let options = SignOptions { placement: Placement::Tag, signed_as: None };
    signature::sign(&repository, &descriptor, &key, &options).await.expect("signed");
    let verified = signature::verify(&repository, &descriptor, &signed_with(&key)).await;
    verified.expect("verified");
}

#[tokio::test]
async fn there_is_an_end_to_looking() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let large = push(&repository, "large").await;
    put_bundle(&repository, &large, &vec![b' '; 2 << 20]).await;
    let message = refusal(&repository, &large, &signed_with(&new_key())).await;
    assert!(message.ends_with("it has more than 1048576 bytes"), "{message}");

    let many = push(&repository, "many").await;
    for number in 0..=100 {
        put_bundle(&repository, &many, format!("{number}").as_bytes()).await;
    }
    let message = refusal(&repository, &many, &signed_with(&new_key())).await;
    let expected = "DIGEST has too many signatures, and none of those that were looked at counts";
    assert_eq!(message, expected);
}

/// Something that says that it is a bundle.
async fn put_bundle(repository: &Repository, subject: &Descriptor, content: &[u8]) {
    const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
    let layer = Descriptor::of(BUNDLE, content);
    let blob = BlobStream::from_bytes(content.to_vec());
    repository.put_blob(&layer, blob).await.expect("stored");
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "artifactType": BUNDLE,
        "config": Descriptor::of(media_type::OCI_EMPTY, b"{}"),
        "layers": [layer],
        "subject": subject,
    });
    let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
    repository.put_manifest(&manifest, None).await.expect("stored");
}
