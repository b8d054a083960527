//! Repositories to sign in, and something to sign.

use flumen_oci::{
    BlobStream, Descriptor, RawManifest, Repository,
    client::{ClientOptions, Registry},
    layout::Layout,
    media_type,
    signature::Policy,
};
use flumen_registry::{Options, Server};
use flumen_sign::{PrivateKey, Trust};
use serde_json::json;
use tempfile::TempDir;

/// Our own registry, with data that vanish with it.
pub(super) struct Embedded {
    server: Server,
    _data: TempDir,
}

impl Embedded {
    pub(super) async fn start() -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let server = Server::start(Options::new(data.path())).await.expect("a registry");
        Self { server, _data: data }
    }

    pub(super) fn host(&self) -> String {
        self.server.address().to_string()
    }

    pub(super) fn repository(&self, path: &str) -> Repository {
        remote(&self.host(), path)
    }
}

pub(super) fn remote(host: &str, path: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let registry = Registry::new(host, &options).expect("a client");
    Repository::Remote(registry.repository(path))
}

pub(super) fn layout(directory: &TempDir) -> Repository {
    Repository::Layout(Layout::create(directory.path().join("layout")).expect("a layout"))
}

/// Stores an artifact that holds `text`.
pub(super) async fn push(repository: &Repository, text: &str) -> Descriptor {
    let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    let layer = Descriptor::of("text/plain", text.as_bytes());
    for (descriptor, content) in [(&config, "{}"), (&layer, text)] {
        let content = BlobStream::from_bytes(content.to_owned());
        repository.put_blob(descriptor, content).await.expect("stored");
    }
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "config": config,
        "layers": [layer],
    });
    let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
    repository.put_manifest(&manifest, Some("v1")).await.expect("stored");
    manifest.descriptor
}

pub(super) fn new_key() -> PrivateKey {
    PrivateKey::generate().expect("a key")
}

/// Signatures with this key count.
pub(super) fn signed_with(key: &PrivateKey) -> Policy {
    let trust = Trust { keys: vec![key.public_key().clone()], ..Trust::default() };
    Policy { trust, signed_as: None }
}
