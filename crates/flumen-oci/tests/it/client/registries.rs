//! The same conversations with every registry that there is.

use bytes::Bytes;
use flumen_oci::{
    BlobStream, Descriptor, RawManifest, Repository, Target,
    client::{ClientOptions, Registry},
    media_type,
};
use flumen_testkit::{RealRegistry, RegistryKind};

fn content(size: usize) -> Bytes {
    (0..size).map(|n| u8::try_from(n * 7 % 251).unwrap_or_default()).collect()
}

fn manifest(layer: &Descriptor) -> RawManifest {
    let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    let text = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "config": config,
        "layers": [layer],
    });
    RawManifest::new(media_type::OCI_MANIFEST, text.to_string())
}

async fn push_and_read_back(host: &str) {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let registry = Registry::new(host, &options).expect("a client");
    let remote = registry.repository("org/app");
    let repository = Repository::Remote(remote.clone());
    let empty = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    repository
        .put_blob(&empty, BlobStream::from_bytes(&b"{}"[..]))
        .await
        .expect("the configuration");
    for size in [0, 1, 70_000, 3_000_000] {
        let bytes = content(size);
        let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, &bytes);
        assert!(!repository.has_blob(&layer).await.expect("an answer"), "{size}");
        repository
            .put_blob(&layer, BlobStream::from_bytes(bytes.clone()))
            .await
            .expect("an upload");
        assert!(repository.has_blob(&layer).await.expect("an answer"), "{size}");
        let back = repository.blob(&layer).await.expect("a download").collect().await;
        assert_eq!(back.expect("the content"), bytes);

        let manifest = manifest(&layer);
        let tag = format!("v{size}");
        repository.put_manifest(&manifest, Some(&tag)).await.expect("the manifest");
        let target = Target::Tag(tag);
        let resolved = repository.resolve(&target).await.expect("the tag");
        assert_eq!(resolved, manifest.descriptor);
        assert_eq!(repository.manifest(&target).await.expect("the manifest"), manifest);
        let by_digest = Target::Digest(resolved.digest);
        assert_eq!(repository.manifest(&by_digest).await.expect("the manifest"), manifest);
    }
    assert_eq!(repository.tags().await.expect("tags"), ["v0", "v1", "v3000000", "v70000"]);
}

#[tokio::test]
async fn what_is_pushed_is_read_back() {
    for kind in RegistryKind::ALL {
        let Some(registry) = RealRegistry::start(kind) else { continue };
        push_and_read_back(registry.host()).await;
    }
}
