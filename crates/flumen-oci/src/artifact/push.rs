//! From manifests to a stored artifact, in one step.

use super::{Format, Metadata, pack_yaml};
use crate::{Descriptor, Repository, Result, Target, layout::blocking};

/// When a pushed artifact is tagged.
#[derive(Clone, Copy, Debug)]
pub enum Tagging<'a> {
    /// The tag moves to the artifact.
    Always(&'a str),
    /// The artifact is pushed and tagged unless the repository has it already.
    IfAbsent(&'a str),
}

/// Packs objects, given as multi-document YAML, in kustomizer's layout and stores them. Returns the manifest's descriptor.
pub async fn push_yaml(
    yaml: Vec<u8>,
    metadata: Metadata,
    to: &Repository,
    tagging: Tagging<'_>,
) -> Result<Descriptor> {
    // Compression takes a while.
    let packed = blocking(move || pack_yaml(&yaml, Format::Kustomizer, &metadata)).await?;
    let descriptor = &packed.manifest.descriptor;
    let tag = match tagging {
        Tagging::Always(tag) => tag,
        Tagging::IfAbsent(tag) => {
            if to.resolve(&Target::Digest(descriptor.digest.clone())).await.is_ok() {
                return Ok(packed.manifest.descriptor);
            }
            tag
        }
    };
    packed.push(to, Some(tag)).await?;
    Ok(packed.manifest.descriptor)
}
