//! What each format looks like, and that it is read back.

use std::{io::Read as _, path::Path};

use flumen_archive::PathOptions;
use flumen_oci::{
    Descriptor, Digest, Document, Error, Manifest, RawManifest,
    artifact::{Format, Metadata, Packed, PullOptions, pack_path, pack_yaml, pull},
    media_type,
};
use serde_json::{Value, json};

use super::{TestRegistry, YAML, blob, manifest, metadata, tag};

fn manifest_of(packed: &Packed) -> Manifest {
    match packed.manifest.parse().expect("a manifest") {
        Document::Manifest(manifest) => manifest,
        Document::Index(_) => panic!("an index"),
    }
}

/// Names, modes and contents of a layer.
fn entries(packed: &Packed) -> Vec<(String, u32, String)> {
    let (_, layer) = packed.blobs.first().expect("a layer");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&**layer));
    let entries = archive.entries().expect("an archive").map(|entry| {
        let mut entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!(header.uid().expect("owner"), 0);
        assert_eq!(header.gid().expect("group"), 0);
        assert_eq!(header.mtime().expect("time"), 0);
        let mode = header.mode().expect("mode");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let mut content = String::new();
        entry.read_to_string(&mut content).expect("content");
        (name, mode, content)
    });
    entries.collect()
}

#[test]
fn kustomizers_layout_is_a_docker_image_with_annotations() {
    let packed = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
    let manifest = manifest_of(&packed);
    assert_eq!(manifest.media_type.as_deref(), Some(media_type::DOCKER_MANIFEST));
    assert_eq!(manifest.config.media_type, media_type::DOCKER_CONFIG);
    assert_eq!(manifest.layers[0].media_type, media_type::DOCKER_LAYER_GZIP);
    assert_eq!(
        json!(manifest.annotations),
        json!({
            "kustomizer.dev/version": env!("CARGO_PKG_VERSION"),
            "kustomizer.dev/checksum": Digest::of(YAML.as_bytes()).hex(),
            "kustomizer.dev/created": "2024-01-02T03:04:05Z",
            "org.opencontainers.image.source": "https://git.example.com/org/app.git",
            "org.opencontainers.image.revision": "main@sha1:0123abc",
        })
    );
    assert_eq!(entries(&packed), [("all.yaml".to_owned(), 0o600, YAML.to_owned())]);
    let config: Value = serde_json::from_slice(&packed.blobs[1].1).expect("JSON");
    assert!(config.get("created").is_none(), "{config}");

    let unknown = Metadata { source: String::new(), revision: String::new(), ..metadata() };
    let packed = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &unknown).expect("packed");
    assert_eq!(manifest_of(&packed).annotations.len(), 3, "empty fields are left out");
}

#[test]
fn the_oci_layout_has_the_same_layer() {
    let kustomizer = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
    let oci = pack_yaml(YAML.as_bytes(), Format::Oci, &metadata()).expect("packed");
    assert_eq!(oci.layer(), kustomizer.layer());
    let manifest = manifest_of(&oci);
    assert_eq!(manifest.media_type.as_deref(), Some(media_type::OCI_MANIFEST));
    assert_eq!(manifest.artifact_type.as_deref(), Some(media_type::FLUMEN_MANIFESTS));
    assert_eq!(manifest.config, Descriptor::of(media_type::OCI_EMPTY, b"{}"));
}

#[test]
fn flux_layout_is_a_tree_with_its_modes() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let write = |name: &str, content: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(path, content).expect("file");
    };
    write("b.yaml", YAML);
    write("a/run.sh", "#!/bin/sh\n");
    write("logo.png", "no picture");
    write(".git/config", "secret");
    let set_mode = |name: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.path().join(name), permissions).expect("mode");
    };
    set_mode("", 0o750);
    set_mode("a", 0o755);
    set_mode("a/run.sh", 0o755);
    set_mode("b.yaml", 0o640);
    std::os::unix::fs::symlink("b.yaml", dir.path().join("link.yaml")).expect("link");

    let packed = pack_path(dir.path(), &PathOptions::default(), &metadata()).expect("packed");
    let found = entries(&packed);
    let shown: Vec<(&str, u32)> =
        found.iter().map(|(name, mode, _)| (name.as_str(), *mode)).collect();
    assert_eq!(shown, [(".", 0o750), ("a", 0o755), ("a/run.sh", 0o755), ("b.yaml", 0o640)]);
    let manifest = manifest_of(&packed);
    assert_eq!(manifest.config.media_type, media_type::FLUX_CONFIG);
    assert_eq!(manifest.layers[0].media_type, media_type::FLUX_CONTENT_GZIP);
    assert_eq!(
        json!(manifest.annotations),
        json!({
            "org.opencontainers.image.created": "2024-01-02T03:04:05Z",
            "org.opencontainers.image.source": "https://git.example.com/org/app.git",
            "org.opencontainers.image.revision": "main@sha1:0123abc",
        })
    );
    let config: Value = serde_json::from_slice(&packed.blobs[1].1).expect("JSON");
    assert_eq!(config["created"], "2024-01-02T03:04:05Z");

    let one = pack_path(&dir.path().join("b.yaml"), &PathOptions::default(), &metadata());
    let found = entries(&one.expect("packed"));
    let shown: Vec<(&str, u32)> =
        found.iter().map(|(name, mode, _)| (name.as_str(), *mode)).collect();
    assert_eq!(shown, [(".", 0o700), ("b.yaml", 0o640)], "as if it came in a directory of its own");
}

#[tokio::test]
async fn acceptance_02_every_format_gives_back_the_text() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    for format in [Format::Kustomizer, Format::Oci, Format::Flux] {
        let packed = pack_yaml(YAML.as_bytes(), format, &metadata()).expect("packed");
        let digest = packed.push(&repository, Some("v1")).await.expect("pushed");
        let pulled = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect("pulled");
        assert_eq!(pulled.yaml, YAML, "{format:?}");
        assert_eq!(pulled.digest, digest);
        assert_eq!(pulled.about.revision.as_deref(), Some("main@sha1:0123abc"));
    }
}

#[tokio::test]
async fn acceptance_14_orass_layout_is_read_too() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let config = blob(&repository, "artifact/nuon", "{}").await;
    let layer = |descriptor: Descriptor, title: &str| {
        let mut layer = json!(descriptor);
        layer["annotations"] = json!({"org.opencontainers.image.title": title});
        layer
    };
    let text = blob(&repository, "application/x-yaml", YAML).await;
    let other = blob(&repository, "application/x-yaml", "other").await;
    let oras = |layers: Vec<Value>| {
        json!({
            "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST, "config": config, "layers": layers,
        })
    };
    let both = vec![layer(other.clone(), "README"), layer(text, "manifest.yaml")];
    manifest(&repository, media_type::OCI_MANIFEST, oras(both)).await;
    let pulled = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect("pulled");
    assert_eq!(pulled.yaml, YAML);
    assert_eq!(pulled.about.layout, "oras");

    let without = vec![layer(other, "README")];
    manifest(&repository, media_type::OCI_MANIFEST, oras(without)).await;
    let error = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect_err("none");
    assert_eq!(error.to_string(), "invalid archive, manifest.yaml was not found after unpacking");
}

#[tokio::test]
async fn acceptance_15_a_changed_byte_is_noticed() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let packed = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
    let other = pack_yaml(b"changed", Format::Kustomizer, &metadata()).expect("packed");
    other.push(&repository, None).await.expect("pushed");
    packed.push(&repository, None).await.expect("pushed");
    // The manifest of one with the layer of the other: every digest is right, the checksum is not.
    let mut forged: Value = serde_json::from_slice(&packed.manifest.bytes).expect("JSON");
    forged["layers"] = json!([other.blobs[0].0]);
    let forged = RawManifest::new(media_type::DOCKER_MANIFEST, forged.to_string());
    repository.put_manifest(&forged, Some("v1")).await.expect("stored");
    let error = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect_err("forged");
    assert!(matches!(error, Error::ChecksumMismatch { .. }), "{error}");
    assert!(error.to_string().starts_with("checksum mismatch"), "{error}");
}

#[tokio::test]
async fn mandatory_annotations_must_be_there() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let packed = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
    packed.push(&repository, None).await.expect("pushed");
    for name in ["version", "checksum", "created"] {
        let name = format!("kustomizer.dev/{name}");
        let mut spoiled: Value = serde_json::from_slice(&packed.manifest.bytes).expect("JSON");
        let annotations = spoiled["annotations"].as_object_mut().expect("annotations");
        annotations.remove(&name).expect("it was there");
        manifest(&repository, media_type::DOCKER_MANIFEST, spoiled).await;
        let error = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect_err("none");
        let message = error.to_string();
        assert!(
            message.starts_with("annotation not found") && message.contains(&name),
            "{message}"
        );
    }
}

#[tokio::test]
async fn annotations_of_the_corpus_are_written() {
    let metadata = Metadata {
        annotations: [("kustomizer.dev/version".to_owned(), "1.0.0".to_owned())].into(),
        revision: "main/0123abc".to_owned(),
        ..metadata()
    };
    let packed = pack_yaml(b"x", Format::Kustomizer, &metadata).expect("packed");
    let manifest = manifest_of(&packed);
    assert_eq!(manifest.annotations["kustomizer.dev/version"], "1.0.0", "given ones win");
    assert_eq!(manifest.annotations["org.opencontainers.image.revision"], "main/0123abc");
    assert_eq!(Path::new(&entries(&packed)[0].0), Path::new("all.yaml"));
}
