//! An artifact that somebody else made: copied with all that belongs to it, never packed again.

use std::path::Path;

use flumen_build::objects_of;
use flumen_oci::{
    Reference, Repository, Target,
    artifact::{PullOptions, pull},
    copy::{CopyOptions, copy},
};

use super::{Context, Made, blocking};
use crate::{Error, Result, config::OciArtifactTable, template::without_placeholders};

pub(crate) async fn build(context: &Context<'_>, artifact: &OciArtifactTable) -> Result<Made> {
    let reference = reference(artifact)?;
    let credentials = Some(artifact.credentials_ref.as_str()).filter(|name| !name.is_empty());
    let from = context.registries.open(&reference, credentials)?;
    let digest = from.resolve(&reference.target()).await?.digest;
    let pinned = reference.pinned(&digest);
    context.observer.log(&format!("{reference} is {digest}"));

    let target = Target::Digest(digest.clone());
    let content_bytes = check_content(&from, &target, &pinned).await?;
    let to = &context.destination.repository;
    let tag = Some(context.plan.dst_tag.as_str());
    let copied = copy(&from, &target, to, tag, &CopyOptions::default()).await?;
    context.observer.log(&format!(
        "copied {} blobs and {} bytes, {} blobs were there",
        copied.blobs_copied, copied.bytes, copied.blobs_skipped
    ));
    Ok(Made {
        descriptor: copied.descriptor,
        content_bytes,
        source: format!("oci://{}", reference.name()),
        revision: digest.to_string(),
        reused: copied.blobs_copied == 0 && copied.blobs_mounted == 0,
    })
}

/// The address of the artifact: the digest wins over the tag, and `latest` stands for neither.
fn reference(artifact: &OciArtifactTable) -> Result<Reference> {
    let mut reference: Reference = artifact.url.parse()?;
    if !artifact.tag.is_empty() {
        reference.tag = Some(artifact.tag.clone());
    }
    if !artifact.digest.is_empty() {
        reference.digest = Some(artifact.digest.parse()?);
    }
    Ok(reference)
}

/// Reads the artifact before anything is copied; the number of bytes of its manifests.
async fn check_content(from: &Repository, target: &Target, pinned: &str) -> Result<u64> {
    let unreadable = |source: Error| Error::NotManifests {
        reference: pinned.to_owned(),
        source: Box::new(source),
    };
    let pulled = pull(from, target, &PullOptions::default())
        .await
        .map_err(|error| unreadable(error.into()))?;
    let content_bytes = pulled.yaml.len() as u64;
    let name = pinned.to_owned();
    blocking(move || {
        // Text that is not UTF-8 has another encoding, and is read as it is.
        let readable = str::from_utf8(&pulled.yaml).map(without_placeholders);
        let text = readable.as_ref().map_or(&*pulled.yaml, |text| text.as_bytes());
        let objects = objects_of(text, Path::new(&name))?;
        if objects.is_empty() {
            return Err(flumen_build::Error::NoObjects { file: name.into() }.into());
        }
        Ok(content_bytes)
    })
    .await
    .map_err(unreadable)
}
