//! The same conversations with every registry that there is.

use bytes::Bytes;
use flumen_oci::{
    BlobStream, Descriptor, Digest, Error, RawManifest, Repository, Target,
    client::{ClientOptions, Pem, Registry},
    media_type,
};
use flumen_testkit::{
    REGISTRY_PASSWORD, REGISTRY_USER, RealRegistry, RegistryKind, RegistryOptions, TestRegistry,
    for_each_registry,
};
use tokio::runtime::Runtime;

use super::{options, repository};

/// Runs a test against one registry after the other.
fn with_each(test: &impl AsyncFn(&TestRegistry)) {
    for_each_registry(|registry| {
        Runtime::new().expect("a runtime").block_on(test(registry));
    });
}

fn tag(name: &str) -> Target {
    Target::Tag(name.to_owned())
}

fn content(size: usize) -> Bytes {
    (0..size).map(|n| u8::try_from(n * 7 % 251).unwrap_or_default()).collect()
}

/// An artifact of one layer, perhaps about another one.
fn manifest(layer: &Descriptor, subject: Option<&Descriptor>) -> RawManifest {
    let mut document = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "artifactType": "application/vnd.example.thing",
        "config": Descriptor::of(media_type::OCI_EMPTY, b"{}"),
        "layers": [layer],
    });
    if let Some(subject) = subject {
        document["subject"] = serde_json::to_value(subject).expect("a descriptor");
    }
    RawManifest::new(media_type::OCI_MANIFEST, document.to_string())
}

/// Pushes an artifact with a layer of this size under a tag.
async fn push(repository: &Repository, size: usize, tag: Option<&str>) -> RawManifest {
    let empty = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    repository.put_blob(&empty, BlobStream::from_bytes(&b"{}"[..])).await.expect("configuration");
    let bytes = content(size);
    let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, &bytes);
    repository.put_blob(&layer, BlobStream::from_bytes(bytes)).await.expect("a layer");
    let manifest = manifest(&layer, None);
    repository.put_manifest(&manifest, tag).await.expect("a manifest");
    manifest
}

#[test]
fn what_is_pushed_is_read_back() {
    with_each(&async |registry| {
        let repository = repository(registry.host(), &options());
        for size in [0, 1, 70_000, 3_000_000] {
            let bytes = content(size);
            let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, &bytes);
            assert!(!repository.has_blob(&layer).await.expect("an answer"), "{size}");
            let name = format!("v{size}");
            let manifest = push(&repository, size, Some(&name)).await;
            assert!(repository.has_blob(&layer).await.expect("an answer"), "{size}");
            let back = repository.blob(&layer).await.expect("a download").collect().await;
            assert!(back.expect("the content") == bytes, "{size}");

            let resolved = repository.resolve(&tag(&name)).await.expect("the tag");
            assert_eq!(resolved, manifest.descriptor);
            for target in [tag(&name), Target::Digest(resolved.digest)] {
                assert_eq!(repository.manifest(&target).await.expect("the manifest"), manifest);
            }
        }
        let tags = repository.tags().await.expect("tags");
        assert_eq!(tags, ["v0", "v1", "v3000000", "v70000"]);
    });
}

#[test]
fn what_is_not_there_is_named() {
    with_each(&async |registry| {
        let repository = repository(registry.host(), &options());
        push(&repository, 1, Some("v1")).await;
        let missing = [tag("v2"), Target::Digest(Digest::of(b"nothing"))];
        for target in missing {
            for error in [
                repository.manifest(&target).await.expect_err("missing"),
                repository.resolve(&target).await.expect_err("missing"),
            ] {
                let names_it = matches!(&error, Error::NotFound { what, .. } if what.contains(&target.to_string()));
                assert!(names_it && error.hint().is_some(), "{error}");
            }
        }
    });
}

#[test]
fn blobs_are_mounted_from_other_repositories() {
    with_each(&async |registry| {
        let client = Registry::new(registry.host(), &options()).expect("a client");
        let from = Repository::Remote(client.repository("org/base"));
        push(&from, 1000, None).await;
        let to = client.repository("org/app");
        let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, &content(1000));
        assert!(to.mount_blob(&layer, "org/base").await.expect("a mount"));
        assert!(Repository::Remote(to.clone()).has_blob(&layer).await.expect("an answer"));
        let missing = Descriptor::of("text/plain", b"nowhere");
        assert!(!to.mount_blob(&missing, "org/base").await.expect("an upload instead"));
    });
}

#[test]
fn referrers_are_listed_whoever_keeps_the_list() {
    with_each(&async |registry| {
        let repository = repository(registry.host(), &options());
        let subject = push(&repository, 10, Some("v1")).await;
        assert!(repository.referrers(subject.digest(), None).await.expect("none").is_empty());
        let mut expected = Vec::new();
        for size in [20, 30] {
            push(&repository, size, None).await;
            let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, &content(size));
            let referrer = manifest(&layer, Some(&subject.descriptor));
            repository.put_manifest(&referrer, None).await.expect("a referrer");
            expected.push(referrer.digest().clone());
        }
        expected.sort();
        for (wanted, expected) in [
            (None, expected.as_slice()),
            (Some("application/vnd.example.thing"), expected.as_slice()),
            (Some("application/vnd.example.other"), &[]),
        ] {
            let found = repository.referrers(subject.digest(), wanted).await.expect("a list");
            let mut found: Vec<Digest> = found.into_iter().map(|entry| entry.digest).collect();
            found.sort();
            assert_eq!(found, expected, "{wanted:?}");
        }
    });
}

#[test]
fn a_tag_is_deleted_alone_or_not_at_all() {
    with_each(&async |registry| {
        let repository = repository(registry.host(), &options());
        let manifest = push(&repository, 10, Some("v1")).await;
        repository.put_manifest(&manifest, Some("v2")).await.expect("a second tag");
        let deleted = repository.delete(&tag("v1")).await;
        if matches!(registry, TestRegistry::Real(real) if real.kind() == RegistryKind::DockerRegistry)
        {
            let error = deleted.expect_err("not known there");
            assert!(matches!(error, Error::DeletionUnsupported { .. }), "{error}");
            assert_eq!(repository.tags().await.expect("tags"), ["v1", "v2"]);
        } else {
            deleted.expect("a deletion");
            assert_eq!(repository.tags().await.expect("tags"), ["v2"]);
        }
        repository.manifest(&tag("v2")).await.expect("the other tag");
    });
}

#[test]
fn an_artifact_is_deleted_with_all_its_tags() {
    with_each(&async |registry| {
        let repository = repository(registry.host(), &options());
        let manifest = push(&repository, 10, Some("v1")).await;
        let target = Target::Digest(manifest.digest().clone());
        repository.delete(&target).await.expect("a deletion");
        for target in [target.clone(), tag("v1")] {
            let error = repository.manifest(&target).await.expect_err("deleted");
            assert!(matches!(error, Error::NotFound { .. }), "{error}");
        }
        let error = repository.delete(&target).await.expect_err("nothing is left");
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    });
}

#[tokio::test]
async fn passwords_are_shown_over_https() {
    for kind in RegistryKind::ALL {
        let protected = RegistryOptions { tls: true, credentials: true };
        let Some(registry) = RealRegistry::start_with(kind, protected) else { continue };
        let authorities = registry.authority().map(|path| Pem::File(path.to_owned()));
        let stranger = ClientOptions { authorities, ..ClientOptions::default() };
        let error = repository(registry.host(), &stranger).tags().await.expect_err("a stranger");
        assert!(matches!(error, Error::Unauthorized { .. }), "{error}");

        let credentials = format!("{REGISTRY_USER}:{REGISTRY_PASSWORD}").parse().ok();
        let user = ClientOptions { credentials, ..stranger };
        let repository = repository(registry.host(), &user);
        push(&repository, 70_000, Some("v1")).await;
        assert_eq!(repository.tags().await.expect("tags"), ["v1"]);
    }
}
