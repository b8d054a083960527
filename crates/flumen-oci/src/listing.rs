//! What the tags of a repository stand for.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::{
    Descriptor, Digest, Document, Error, Repository, Result, Target, artifact::annotations,
};

/// Manifests that are asked for at the same time.
const CONCURRENCY: usize = 8;
/// What cosign adds to the tag of a signed artifact.
const ATTACHED: [&str; 3] = [".att", ".sbom", ".sig"];

/// An artifact as lists show it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub tag: String,
    pub descriptor: Descriptor,
    /// Where the content comes from, its state there, and when it was packed; empty if not said.
    pub source: String,
    pub revision: String,
    pub created: String,
}

/// Whether a tag names an artifact rather than something that belongs to one: signatures and their
/// like, and the lists that clients keep of them.
pub fn is_artifact_tag(tag: &str) -> bool {
    let is_attached = ATTACHED.iter().any(|suffix| tag.ends_with(suffix));
    let is_list = tag.replacen('-', ":", 1).parse::<Digest>().is_ok();
    !is_attached && !is_list
}

/// Looks up tags, in their order. One that was deleted meanwhile is left out.
pub async fn list(repository: &Repository, tags: Vec<String>) -> Result<Vec<Listed>> {
    let lookups = tags.into_iter().map(|tag| async move {
        match look_up(repository, tag).await {
            Err(Error::NotFound { .. }) => Ok(None),
            listed => listed.map(Some),
        }
    });
    stream::iter(lookups)
        .buffered(CONCURRENCY)
        .try_filter_map(|listed| async { Ok(listed) })
        .try_collect()
        .await
}

async fn look_up(repository: &Repository, tag: String) -> Result<Listed> {
    let manifest = repository.manifest(&Target::Tag(tag.clone())).await?;
    let said = match manifest.parse()? {
        Document::Manifest(manifest) => manifest.annotations,
        Document::Index(index) => index.annotations,
    };
    let find =
        |names: &[&str]| names.iter().find_map(|name| said.get(*name)).cloned().unwrap_or_default();
    Ok(Listed {
        tag,
        descriptor: manifest.descriptor,
        source: find(&[annotations::SOURCE]),
        revision: find(&[annotations::REVISION]),
        created: find(&[annotations::KUSTOMIZER_CREATED, annotations::CREATED]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_artifact_is_no_artifact() {
        let digest = Digest::of(b"");
        let list = format!("sha256-{}", digest.hex());
        for tag in [&list, &format!("{list}.sig"), "v1.att", "v1.sbom"] {
            assert!(!is_artifact_tag(tag), "{tag}");
        }
        for tag in ["v1", "latest", "sha256-abc", "1.0.0-sig"] {
            assert!(is_artifact_tag(tag), "{tag}");
        }
    }
}
