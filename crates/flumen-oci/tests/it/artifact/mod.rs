//! Packing and reading artifacts, through the embedded registry.
#![allow(clippy::disallowed_methods, reason = "tests may touch the disk")]

mod determinism;
mod directories;
mod encryption;
mod formats;
mod layouts;
mod progress;

use std::collections::BTreeMap;

use bytes::Bytes;
use flumen_oci::{
    BlobStream, Descriptor, RawManifest, Repository, Target,
    artifact::Metadata,
    client::{ClientOptions, Registry},
};
use flumen_registry::{Options, Server};
use tempfile::TempDir;

const YAML: &str =
    "apiVersion: v1\ndata:\n  a: \"1\"\nkind: ConfigMap\nmetadata:\n  name: settings\n";

/// An embedded registry that vanishes with the test.
struct TestRegistry {
    server: Server,
    _data: TempDir,
}

impl TestRegistry {
    async fn start() -> Self {
        let data = tempfile::tempdir().expect("scratch directory");
        let server = Server::start(Options::new(data.path())).await.expect("a registry");
        Self { server, _data: data }
    }

    fn repository(&self) -> Repository {
        let options = ClientOptions { insecure: true, ..ClientOptions::default() };
        let host = self.server.address().to_string();
        let registry = Registry::new(&host, &options).expect("a client");
        Repository::Remote(registry.repository("org/app"))
    }
}

fn metadata() -> Metadata {
    Metadata {
        source: "https://git.example.com/org/app.git".to_owned(),
        revision: "main@sha1:0123abc".to_owned(),
        created: "2024-01-02T03:04:05Z".parse().expect("a time"),
        annotations: BTreeMap::new(),
    }
}

fn tag(name: &str) -> Target {
    Target::Tag(name.to_owned())
}

/// Stores a blob and describes it.
async fn blob(to: &Repository, media_type: &str, content: impl Into<Bytes>) -> Descriptor {
    let content = content.into();
    let descriptor = Descriptor::of(media_type, &content);
    to.put_blob(&descriptor, BlobStream::from_bytes(content)).await.expect("a blob");
    descriptor
}

/// Stores a manifest that is written out here, under the tag `v1`.
async fn manifest(to: &Repository, media_type: &str, content: serde_json::Value) -> RawManifest {
    let manifest = RawManifest::new(media_type, content.to_string());
    to.put_manifest(&manifest, Some("v1")).await.expect("a manifest");
    manifest
}
