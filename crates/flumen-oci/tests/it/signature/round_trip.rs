//! What is signed here verifies here, wherever it is kept.

use flumen_oci::{
    Repository, Target,
    signature::{self, Placement, SignOptions, Signed},
};
use flumen_sign::Signer;
use flumen_testkit::{RealRegistry, RegistryKind};

use super::places::{Embedded, layout, new_key, push, remote, signed_with};

const PLACEMENTS: [Placement; 3] = [Placement::Referrer, Placement::Tag, Placement::Both];

async fn sign_and_verify(repository: &Repository, name: Option<&str>) {
    for (number, placement) in PLACEMENTS.into_iter().enumerate() {
        let descriptor = push(repository, &format!("content {number}")).await;
        let options = SignOptions { placement, signed_as: None };
        let [first, second] = [new_key(), new_key()];
        for key in [&first, &second] {
            let signed = signature::sign(repository, &descriptor, key, &options).await;
            assert_eq!(signed.expect("signed"), Signed::Added, "{placement:?}");
        }
        for key in [&first, &second] {
            let verified = signature::verify(repository, &descriptor, &signed_with(key)).await;
            let verified = verified.expect("verified");
            assert_eq!(verified.digest, descriptor.digest);
            assert_eq!(verified.signed_as.as_deref(), name, "{placement:?}");
            let hint = key.public_key().hint();
            assert_eq!(verified.signer, Signer::Key { hint }, "{placement:?}");
        }
        let again = signature::sign(repository, &descriptor, &first, &options).await;
        assert_eq!(again.expect("signed"), Signed::Already, "{placement:?}");
    }
}

async fn sign_and_verify_on(host: &str) {
    let repository = remote(host, "org/app");
    sign_and_verify(&repository, Some(&format!("{host}/org/app"))).await;
}

#[tokio::test]
async fn on_the_embedded_registry() {
    let registry = Embedded::start().await;
    sign_and_verify_on(&registry.host()).await;
}

#[tokio::test]
async fn on_other_registries() {
    for kind in RegistryKind::ALL {
        let Some(registry) = RealRegistry::start(kind) else { continue };
        sign_and_verify_on(registry.host()).await;
    }
}

#[tokio::test]
async fn in_a_layout() {
    let directory = tempfile::tempdir().expect("a directory");
    sign_and_verify(&layout(&directory), None).await;
}

#[tokio::test]
async fn signatures_share_one_tag() {
    let registry = Embedded::start().await;
    let repository = registry.repository("org/app");
    let descriptor = push(&repository, "content").await;
    let options = SignOptions { placement: Placement::Tag, signed_as: None };
    for _ in 0..3 {
        let signed = signature::sign(&repository, &descriptor, &new_key(), &options).await;
        signed.expect("signed");
    }
    let tag = format!("sha256-{}.sig", descriptor.digest.hex());
    let manifest = repository.manifest(&Target::Tag(tag.clone())).await.expect("signatures");
    let text = String::from_utf8_lossy(&manifest.bytes);
    assert_eq!(text.matches("dev.cosignproject.cosign/signature").count(), 3);
    assert_eq!(repository.tags().await.expect("tags"), [tag, "v1".to_owned()]);
}
