//! From content to an artifact: layer, configuration and manifest.

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use futures_util::future::try_join_all;
use serde_json::json;

use super::{Format, Metadata, annotations, encryption::Recipients, layer::Layer};
use crate::{
    BlobStream, Descriptor, Digest, Error, Manifest, RawManifest, Repository, Result, Watch,
    media_type, send::send,
};

pub(super) const FILE: &str = "all.yaml";
const ENCRYPTED_FILE: &str = "all.yaml.age";

/// Nobody but its owner needs to read what may hold secrets.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o755;

/// An artifact that was made here and is not stored anywhere yet.
#[derive(Clone, Debug)]
pub struct Packed {
    pub manifest: RawManifest,
    pub blobs: Vec<(Descriptor, Bytes)>,
}

impl Packed {
    /// Stores it; the tag appears last. Blobs that are there already are not sent again.
    pub async fn push(&self, to: &Repository, tag: Option<&str>) -> Result<Digest> {
        self.push_watched(to, tag, &Watch::default()).await
    }

    /// The same, and tells how far it is.
    pub async fn push_watched(
        &self,
        to: &Repository,
        tag: Option<&str>,
        watch: &Watch,
    ) -> Result<Digest> {
        let blobs = self.blobs.iter().map(|(descriptor, bytes)| async move {
            watch.found(descriptor.size);
            if to.has_blob(descriptor).await? {
                watch.done(descriptor.size);
                return Ok(());
            }
            let content = async || Ok(BlobStream::from_bytes(bytes.clone()));
            send(descriptor, to, watch, content).await
        });
        try_join_all(blobs).await?;
        to.put_manifest(&self.manifest, tag).await?;
        Ok(self.manifest.digest().clone())
    }

    /// The digest of the layer, which is the same for the same content.
    pub fn layer(&self) -> Option<&Digest> {
        self.blobs.first().map(|(descriptor, _)| &descriptor.digest)
    }
}

/// Packs objects, given as multi-document YAML.
pub fn pack_yaml(yaml: &[u8], format: Format, metadata: &Metadata) -> Result<Packed> {
    pack(yaml, FILE, yaml, format, metadata, &[])
}

/// Packs objects so that only the owner of one of the recipients' keys can read them. The checksum is
/// that of the plain text.
pub fn pack_encrypted(
    yaml: &[u8],
    format: Format,
    metadata: &Metadata,
    recipients: &Recipients,
) -> Result<Packed> {
    if format == Format::Flux {
        return Err(Error::CannotEncrypt);
    }
    let secret = recipients.encrypt(yaml)?;
    pack(
        yaml,
        ENCRYPTED_FILE,
        &secret,
        format,
        metadata,
        &[(annotations::ENCRYPTED, annotations::AGE)],
    )
}

fn pack(
    plain: &[u8],
    name: &str,
    content: &[u8],
    format: Format,
    metadata: &Metadata,
    extra: &[(&str, &str)],
) -> Result<Packed> {
    let layer = Layer::of(|writer| {
        if format == Format::Flux {
            writer.directory(Path::new("."), DIRECTORY_MODE)?;
        }
        Ok(writer.file(Path::new(name), FILE_MODE, content)?)
    })?;
    if format == Format::Flux {
        return flux(layer, metadata);
    }

    let mut annotations = BTreeMap::new();
    let mut annotate = |key: &str, value: &str| {
        if !value.is_empty() {
            annotations.insert(key.to_owned(), value.to_owned());
        }
    };
    let created = annotations::time(metadata.created);
    annotate(annotations::VERSION, env!("CARGO_PKG_VERSION"));
    annotate(annotations::CHECKSUM, Digest::of(plain).hex());
    annotate(annotations::KUSTOMIZER_CREATED, &created);
    annotate(annotations::SOURCE, &metadata.source);
    annotate(annotations::REVISION, &metadata.revision);
    for (key, value) in extra {
        annotate(key, value);
    }
    if format == Format::Oci {
        annotate(annotations::CREATED, &created);
    }
    annotations.extend(metadata.annotations.clone());

    if format == Format::Oci {
        let manifest = Manifest {
            artifact_type: Some(media_type::FLUMEN_MANIFESTS.to_owned()),
            ..manifest(media_type::OCI_MANIFEST, annotations)
        };
        let config = (media_type::OCI_EMPTY, "{}".to_owned());
        return artifact(manifest, config, (media_type::OCI_LAYER_GZIP, layer));
    }
    let config = (media_type::DOCKER_CONFIG, image_config(None, &layer));
    let manifest = manifest(media_type::DOCKER_MANIFEST, annotations);
    artifact(manifest, config, (media_type::DOCKER_LAYER_GZIP, layer))
}

/// Puts Flux's manifest around a layer. Source and revision are there even if they are empty.
pub(super) fn flux(layer: Layer, metadata: &Metadata) -> Result<Packed> {
    let created = annotations::time(metadata.created);
    let mut annotations = BTreeMap::from([
        (annotations::CREATED.to_owned(), created),
        (annotations::SOURCE.to_owned(), metadata.source.clone()),
        (annotations::REVISION.to_owned(), metadata.revision.clone()),
    ]);
    annotations.extend(metadata.annotations.clone());
    let config = image_config(annotations.get(annotations::CREATED), &layer);
    artifact(
        manifest(media_type::OCI_MANIFEST, annotations),
        (media_type::FLUX_CONFIG, config),
        (media_type::FLUX_CONTENT_GZIP, layer),
    )
}

/// The configuration of an image that is nothing but one layer.
fn image_config(created: Option<&String>, layer: &Layer) -> String {
    let mut config = json!({
        "architecture": "",
        "config": {},
        "os": "",
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id.to_string()]},
    });
    if let Some(created) = created {
        config["created"] = json!(created);
    }
    config.to_string()
}

fn manifest(media_type: &str, annotations: BTreeMap<String, String>) -> Manifest {
    Manifest {
        schema_version: 2,
        media_type: Some(media_type.to_owned()),
        artifact_type: None,
        config: Descriptor::of(media_type::OCI_EMPTY, b"{}"),
        layers: Vec::new(),
        subject: None,
        annotations,
    }
}

fn artifact(
    mut manifest: Manifest,
    (config_type, config): (&str, String),
    (layer_type, layer): (&str, Layer),
) -> Result<Packed> {
    let config = Bytes::from(config);
    let layer = Bytes::from(layer.bytes);
    let config_descriptor = Descriptor::of(config_type, &config);
    let layer_descriptor = Descriptor::of(layer_type, &layer);
    manifest.config = config_descriptor.clone();
    manifest.layers = vec![layer_descriptor.clone()];
    let bytes = serde_json::to_vec(&manifest).map_err(|error| Error::packing(error.into()))?;
    let media_type = manifest.media_type.as_deref().unwrap_or(media_type::OCI_MANIFEST);
    Ok(Packed {
        manifest: RawManifest::new(media_type, bytes),
        blobs: vec![(layer_descriptor, layer), (config_descriptor, config)],
    })
}
