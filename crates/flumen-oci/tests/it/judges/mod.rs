//! The same tests against every registry, with other tools on the other side.
//!
//! What ours pushes, skopeo and crane read; what they push, ours reads. Digests must agree.
#![allow(clippy::disallowed_methods, reason = "other tools leave files")]

mod exchange;
mod protocol;

use std::{io::Read as _, sync::LazyLock};

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use flumen_oci::{
    BlobStream, Descriptor, Digest, RawManifest, Repository,
    client::{ClientOptions, Registry},
    media_type,
};
use flumen_testkit::TestRegistry;
use serde_json::json;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

/// Runs a test with its own repository on each registry.
#[allow(clippy::needless_pass_by_value, reason = "closures are written where they are passed")]
fn on_every_registry(test: impl AsyncFn(&TestRegistry, Repository)) {
    flumen_testkit::for_each_registry(|registry| {
        RUNTIME.block_on(test(registry, open(registry, "team/app")));
    });
}

fn open(registry: &TestRegistry, path: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let registry = Registry::new(registry.host(), &options).expect("a host");
    Repository::Remote(registry.repository(path))
}

/// A layer with one file, as every tool understands it.
fn layer(name: &str, content: &[u8]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, content).expect("a file");
    tar.into_inner().expect("an archive").finish().expect("compressed")
}

/// Pushes a small image: what every tool can read.
async fn push_image(repository: &Repository, layer: &[u8], tag: Option<&str>) -> RawManifest {
    let mut plain = Vec::new();
    GzDecoder::new(layer).read_to_end(&mut plain).expect("a compressed layer");
    let config = json!({
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [Digest::of(&plain)]},
    });
    let config = config.to_string();
    let config = push_blob(repository, media_type::OCI_CONFIG, config.as_bytes()).await;
    let layer = push_blob(repository, media_type::OCI_LAYER_GZIP, layer).await;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "config": config,
        "layers": [layer],
    });
    push_manifest(repository, &manifest, tag).await
}

async fn push_blob(repository: &Repository, media_type: &str, content: &[u8]) -> Descriptor {
    let descriptor = Descriptor::of(media_type, content);
    let content = BlobStream::from_bytes(Bytes::copy_from_slice(content));
    repository.put_blob(&descriptor, content).await.expect("the blob is pushed");
    descriptor
}

async fn push_manifest(
    repository: &Repository,
    manifest: &serde_json::Value,
    tag: Option<&str>,
) -> RawManifest {
    let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
    repository.put_manifest(&manifest, tag).await.expect("the manifest is pushed");
    manifest
}
