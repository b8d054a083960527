//! Artifacts that exist already, between two registries.

use std::collections::BTreeMap;

use flumen_oci::{
    BlobStream, Descriptor, RawManifest, Repository, Target,
    artifact::{Format, Metadata, pack_yaml},
    media_type,
    signature::{Placement, Policy, SignOptions, sign, verify},
};
use flumen_pipeline::{Error, job::Ended};
use flumen_sign::{PrivateKey, Trust};
use jiff::Timestamp;

use crate::{Project, TestRegistry, config_map};

/// Pushes a config map as `v1`; its digest.
async fn push(to: &Repository, name: &str) -> flumen_oci::Digest {
    let metadata = Metadata {
        source: String::new(),
        revision: String::new(),
        created: Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_yaml(config_map(name).as_bytes(), Format::Kustomizer, &metadata);
    packed.expect("packed").push(to, Some("v1")).await.expect("pushed")
}

/// Pushes an OCI manifest with one layer; its descriptor.
async fn push_manifest(
    to: &Repository,
    layer: (&str, &[u8]),
    subject: Option<&Descriptor>,
    tag: Option<&str>,
) -> Descriptor {
    let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    let content = Descriptor::of(layer.0, layer.1);
    to.put_blob(&config, BlobStream::from_bytes(&b"{}"[..])).await.expect("configuration");
    let bytes = BlobStream::from_bytes(layer.1.to_vec());
    to.put_blob(&content, bytes).await.expect("layer");
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "config": config,
        "layers": [content],
        "subject": subject,
    });
    let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
    to.put_manifest(&manifest, tag).await.expect("manifest");
    manifest.descriptor
}

fn component(from: &TestRegistry) -> String {
    format!("oci_artifact = {{url = \"{}\", tag = \"v1\"}}\n", from.reference("org/app"))
}

#[tokio::test]
async fn acceptance_10_an_artifact_keeps_its_digest_from_registry_to_registry() {
    let (a, b) = (TestRegistry::start().await, TestRegistry::start().await);
    let digest = push(&a.repository("org/app"), "settings").await;
    let project = Project::with_component(&component(&a));
    let mut environment = project.environment();
    environment.destination = b.destination("mirror/app");
    let artifact = project.build_in(&environment).await.expect("built");
    assert_eq!(artifact.digest, digest);
    assert_eq!(artifact.revision, digest.to_string());
    assert_eq!(artifact.content_bytes, config_map("settings").len() as u64);
    let found = b.repository("mirror/app").resolve(&Target::Tag(artifact.tag)).await;
    assert_eq!(found.expect("tagged").digest, digest);
}

#[tokio::test]
async fn acceptance_12_an_image_without_manifests_is_not_copied() {
    let (a, b) = (TestRegistry::start().await, TestRegistry::start().await);
    let layer = (media_type::OCI_LAYER_GZIP, &b"\x7fELF, not an archive"[..]);
    push_manifest(&a.repository("org/app"), layer, None, Some("v1")).await;
    let project = Project::with_component(&component(&a));
    let mut environment = project.environment();
    environment.destination = b.destination("mirror/app");
    let ended = project.build_in(&environment).await.expect_err("no manifests");
    assert!(matches!(ended, Ended::Failed(Error::NotManifests { .. })), "{ended:?}");
    let blob = Descriptor::of(layer.0, layer.1);
    assert!(!b.repository("mirror/app").has_blob(&blob).await.unwrap_or(false));
}

#[tokio::test]
async fn acceptance_13_a_signature_still_verifies_at_the_destination() {
    let (a, b) = (TestRegistry::start().await, TestRegistry::start().await);
    let from = a.repository("org/app");
    let digest = push(&from, "settings").await;
    let subject = from.resolve(&Target::Digest(digest.clone())).await.expect("it is there");
    for placement in [Placement::Referrer, Placement::Tag] {
        let key = PrivateKey::generate().expect("a key");
        let options = SignOptions { placement, signed_as: None };
        sign(&from, &subject, &key, &options).await.expect("signed");

        let project = Project::with_component(&component(&a));
        let mut environment = project.environment();
        environment.destination = b.destination("mirror/app");
        project.build_in(&environment).await.expect("built");
        let policy = Policy {
            trust: Trust { keys: vec![key.public_key().clone()], ..Trust::default() },
            signed_as: Some(a.reference("org/app").name()),
        };
        let verified = verify(&b.repository("mirror/app"), &subject, &policy).await;
        assert_eq!(verified.expect("a signature that counts").digest, digest, "{placement:?}");
    }
}

#[tokio::test]
async fn whatever_refers_to_an_artifact_goes_with_it() {
    let (a, b) = (TestRegistry::start().await, TestRegistry::start().await);
    let from = a.repository("org/app");
    let digest = push(&from, "settings").await;
    let subject = from.resolve(&Target::Digest(digest.clone())).await.expect("it is there");
    let statement = ("application/vnd.example.statement", &b"vouched for"[..]);
    let referrer = push_manifest(&from, statement, Some(&subject), None).await;

    let project = Project::with_component(&component(&a));
    let mut environment = project.environment();
    environment.destination = b.destination("mirror/app");
    project.build_in(&environment).await.expect("built");
    let referrers = b.repository("mirror/app").referrers(&digest, None).await.expect("referrers");
    assert!(referrers.iter().any(|found| found.digest == referrer.digest), "{referrers:?}");
}

#[tokio::test]
async fn a_missing_tag_is_named() {
    let a = TestRegistry::start().await;
    push(&a.repository("org/app"), "settings").await;
    let project = Project::with_component(&component(&a).replace("v1", "v2"));
    let ended = project.build().await.expect_err("no such tag");
    assert!(ended.to_string().contains("v2"), "{ended}");
}
