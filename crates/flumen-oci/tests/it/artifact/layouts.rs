//! Manifests that others wrote: indexes, charts, plain images.

use flumen_archive::PathOptions;
use flumen_oci::{
    Descriptor, Error, RawManifest, Repository,
    artifact::{Format, PullOptions, pack_path, pack_yaml, pull, pull_to_dir},
    media_type,
};
use serde_json::{Value, json};

use super::{TestRegistry, YAML, blob, manifest, metadata, tag};

async fn refusal(repository: &Repository) -> Error {
    pull(repository, &tag("v1"), &PullOptions::default()).await.expect_err("refused")
}

fn image(config: &Descriptor, layers: &[Descriptor]) -> Value {
    json!({
        "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST, "config": config, "layers": layers,
    })
}

#[tokio::test]
async fn an_index_leads_to_the_default_platform() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let mut entries = Vec::new();
    for (architecture, text) in [("arm64", "other"), ("amd64", YAML)] {
        let packed = pack_yaml(text.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
        packed.push(&repository, None).await.expect("pushed");
        let mut entry = json!(packed.manifest.descriptor);
        entry["platform"] = json!({"architecture": architecture, "os": "linux"});
        entries.push(entry);
    }
    let index = |entries: &[Value]| json!({"schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "manifests": entries});
    let stored = manifest(&repository, media_type::OCI_INDEX, index(&entries)).await;
    let pulled = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect("pulled");
    assert_eq!(pulled.yaml, YAML);
    assert_eq!(&pulled.digest, stored.digest());

    entries[1]["platform"]["architecture"] = json!("s390x");
    manifest(&repository, media_type::OCI_INDEX, index(&entries)).await;
    assert!(matches!(refusal(&repository).await, Error::NoPlatform { .. }));

    let inner = RawManifest::new(media_type::OCI_INDEX, index(&entries).to_string());
    repository.put_manifest(&inner, None).await.expect("stored");
    manifest(&repository, media_type::OCI_INDEX, index(&[json!(inner.descriptor)])).await;
    let error = refusal(&repository).await;
    assert!(error.to_string().contains("index of an index"), "{error}");
}

#[tokio::test]
async fn charts_are_refused_by_name() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let config = blob(&repository, "application/vnd.cncf.helm.config.v1+json", "{}").await;
    let layer =
        blob(&repository, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "chart").await;
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[layer])).await;
    let error = refusal(&repository).await;
    assert!(error.to_string().ends_with("holds no manifests: it is a Helm chart"), "{error}");
}

#[tokio::test]
async fn plain_images_are_read_by_their_first_layer() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let config = blob(&repository, media_type::OCI_CONFIG, "{}").await;
    let packed = pack_yaml(YAML.as_bytes(), Format::Flux, &metadata()).expect("packed");
    let layer = blob(&repository, media_type::OCI_LAYER_GZIP, packed.blobs[0].1.clone()).await;
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[layer])).await;
    let pulled = pull(&repository, &tag("v1"), &PullOptions::default()).await.expect("pulled");
    assert_eq!((pulled.yaml.as_ref(), pulled.about.layout), (YAML.as_bytes(), "image"));

    let png = blob(&repository, "image/png", "x").await;
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[png])).await;
    assert!(matches!(refusal(&repository).await, Error::UnsupportedLayer { .. }));
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[])).await;
    assert!(refusal(&repository).await.to_string().starts_with("no layers found in image"));
}

#[tokio::test]
async fn acceptance_12_an_image_without_manifests_is_refused() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let config = blob(&repository, media_type::OCI_CONFIG, "{}").await;
    let dir = tempfile::tempdir().expect("scratch directory");
    std::fs::write(dir.path().join("program"), "\x7fELF").expect("file");
    let packed = pack_path(dir.path(), &PathOptions::default(), &metadata());
    let bytes = packed.expect("packed").blobs[0].1.clone();
    let layer = blob(&repository, media_type::OCI_LAYER_GZIP, bytes).await;
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[layer])).await;
    assert!(matches!(refusal(&repository).await, Error::NotManifests { .. }));
}

#[tokio::test]
async fn static_layers_of_flux_are_the_file_itself() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let config = blob(&repository, media_type::FLUX_CONFIG, "{}").await;
    let layer = blob(&repository, "application/vnd.cncf.flux.content.v1.json", YAML).await;
    manifest(&repository, media_type::OCI_MANIFEST, image(&config, &[layer])).await;
    let dir = tempfile::tempdir().expect("scratch directory");
    let options = PullOptions::default();
    let pulled = pull_to_dir(&repository, &tag("v1"), dir.path(), &options).await;
    assert_eq!(pulled.expect("pulled").files, ["manifest.json".into()] as [std::path::PathBuf; 1]);
    let text = pull(&repository, &tag("v1"), &options).await.expect("pulled").yaml;
    assert_eq!(text, YAML);
}
