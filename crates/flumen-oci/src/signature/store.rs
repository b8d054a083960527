//! How signatures are kept in a repository.

use std::collections::BTreeMap;

use bytes::Bytes;
use flumen_sign::{BUNDLE_MEDIA_TYPE, BUNDLE_PREDICATE_TYPE};
use serde_json::json;

use crate::{
    BlobStream, Descriptor, Digest, Document, Error, Manifest, RawManifest, Repository, Result,
    Target, media_type, referrer::fallback_tag,
};

pub(super) const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
pub(super) const SIGNATURE_ANNOTATION: &str = "dev.cosignproject.cosign/signature";

const BUNDLE_CONTENT_ANNOTATION: &str = "dev.sigstore.bundle.content";
const BUNDLE_PREDICATE_ANNOTATION: &str = "dev.sigstore.bundle.predicateType";

/// The tag below which cosign keeps the signatures of a manifest.
fn signature_tag(digest: &Digest) -> String {
    format!("{}.sig", fallback_tag(digest))
}

/// What is below that tag, if it is there.
pub(super) async fn tagged_manifest(
    repository: &Repository,
    digest: &Digest,
) -> Result<Option<Manifest>> {
    let raw = match repository.manifest(&Target::Tag(signature_tag(digest))).await {
        Ok(raw) => raw,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    match raw.parse()? {
        Document::Manifest(manifest) => Ok(Some(manifest)),
        Document::Index(_) => Err(Error::InvalidManifest {
            digest: raw.digest().clone(),
            reason: "it lists manifests where signatures are expected".to_owned(),
        }),
    }
}

/// Adds a payload and its signature to those below the tag.
pub(super) async fn put_tag(
    repository: &Repository,
    subject: &Descriptor,
    payload: Vec<u8>,
    signature: String,
) -> Result<()> {
    let mut layer = Descriptor::of(SIMPLE_SIGNING, &payload);
    layer.annotations.insert(SIGNATURE_ANNOTATION.to_owned(), signature);
    put_blob(repository, &layer, payload.into()).await?;

    let existing = tagged_manifest(repository, &subject.digest).await?;
    let mut layers = existing.as_ref().map_or_else(Vec::new, |manifest| manifest.layers.clone());
    layers.push(layer);
    let config = config_of_image(&layers);
    let descriptor = Descriptor::of(media_type::OCI_CONFIG, &config);
    put_blob(repository, &descriptor, config).await?;
    let manifest = Manifest {
        schema_version: 2,
        media_type: Some(media_type::OCI_MANIFEST.to_owned()),
        artifact_type: None,
        config: descriptor,
        layers,
        subject: None,
        annotations: existing.map_or_else(BTreeMap::new, |manifest| manifest.annotations),
    };
    let tag = signature_tag(&subject.digest);
    repository.put_manifest(&encode(&manifest), Some(&tag)).await
}

/// Stores a bundle as a manifest whose subject is the artifact.
pub(super) async fn put_referrer(
    repository: &Repository,
    subject: &Descriptor,
    bundle: &[u8],
) -> Result<()> {
    const EMPTY: &[u8] = b"{}";
    let config = Descriptor::of(media_type::OCI_EMPTY, EMPTY);
    put_blob(repository, &config, Bytes::from_static(EMPTY)).await?;
    let layer = Descriptor::of(BUNDLE_MEDIA_TYPE, bundle);
    put_blob(repository, &layer, Bytes::copy_from_slice(bundle)).await?;
    let annotations = [
        (BUNDLE_CONTENT_ANNOTATION, "dsse-envelope"),
        (BUNDLE_PREDICATE_ANNOTATION, BUNDLE_PREDICATE_TYPE),
    ];
    let manifest = Manifest {
        schema_version: 2,
        media_type: Some(media_type::OCI_MANIFEST.to_owned()),
        artifact_type: Some(BUNDLE_MEDIA_TYPE.to_owned()),
        config,
        layers: vec![layer],
        subject: Some(Descriptor::new(&subject.media_type, subject.digest.clone(), subject.size)),
        annotations: annotations.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    };
    repository.put_manifest(&encode(&manifest), None).await
}

/// The configuration of an image with these layers: the tag looks like an image to registries that
/// know nothing else.
fn config_of_image(layers: &[Descriptor]) -> Bytes {
    const BEGINNING: &str = "0001-01-01T00:00:00Z";
    let layers: Vec<&Digest> = layers.iter().map(|layer| &layer.digest).collect();
    let history = vec![json!({ "created": BEGINNING }); layers.len()];
    let config = json!({
        "architecture": "",
        "config": {},
        "created": BEGINNING,
        "history": history,
        "os": "",
        "rootfs": { "type": "layers", "diff_ids": layers },
    });
    config.to_string().into()
}

fn encode(manifest: &Manifest) -> RawManifest {
    let bytes = serde_json::to_vec(manifest).expect("a manifest is texts and numbers");
    RawManifest::new(media_type::OCI_MANIFEST, bytes)
}

async fn put_blob(repository: &Repository, descriptor: &Descriptor, content: Bytes) -> Result<()> {
    if repository.has_blob(descriptor).await? {
        return Ok(());
    }
    repository.put_blob(descriptor, BlobStream::from_bytes(content)).await
}
