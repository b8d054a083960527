//! A place that holds content under names: on a registry or on disk.

use std::fmt;

use crate::{
    BlobStream, Descriptor, Digest, RawManifest, Result, Target, client::RemoteRepository,
    layout::Layout,
};

/// One repository of a registry, or a layout on disk.
///
/// What is read has been checked against its digest. What is written becomes visible under its
/// name only when it is complete.
#[derive(Clone, Debug)]
pub enum Repository {
    Remote(RemoteRepository),
    Layout(Layout),
}

impl Repository {
    /// What a tag or digest names, without its content.
    pub async fn resolve(&self, target: &Target) -> Result<Descriptor> {
        match self {
            Self::Remote(remote) => remote.resolve(target).await,
            Self::Layout(layout) => layout.resolve(target).await,
        }
    }

    pub async fn manifest(&self, target: &Target) -> Result<RawManifest> {
        match self {
            Self::Remote(remote) => remote.manifest(target).await,
            Self::Layout(layout) => layout.manifest(target).await,
        }
    }

    /// Stores a manifest whose content is already there, and points a tag at it.
    pub async fn put_manifest(&self, manifest: &RawManifest, tag: Option<&str>) -> Result<()> {
        match self {
            Self::Remote(remote) => remote.put_manifest(manifest, tag).await,
            Self::Layout(layout) => layout.put_manifest(manifest, tag).await,
        }
    }

    pub async fn has_blob(&self, descriptor: &Descriptor) -> Result<bool> {
        match self {
            Self::Remote(remote) => remote.has_blob(descriptor).await,
            Self::Layout(layout) => layout.has_blob(descriptor).await,
        }
    }

    pub async fn blob(&self, descriptor: &Descriptor) -> Result<BlobStream> {
        match self {
            Self::Remote(remote) => remote.blob(descriptor).await,
            Self::Layout(layout) => layout.blob(descriptor).await,
        }
    }

    pub async fn put_blob(&self, descriptor: &Descriptor, content: BlobStream) -> Result<()> {
        match self {
            Self::Remote(remote) => remote.put_blob(descriptor, content).await,
            Self::Layout(layout) => layout.put_blob(descriptor, content).await,
        }
    }

    /// All tags, in the order of their bytes.
    pub async fn tags(&self) -> Result<Vec<String>> {
        match self {
            Self::Remote(remote) => remote.tags().await,
            Self::Layout(layout) => layout.tags().await,
        }
    }

    /// The same, or nothing if there are more than `max`.
    pub(crate) async fn tags_up_to(&self, max: usize) -> Result<Option<Vec<String>>> {
        match self {
            Self::Remote(remote) => remote.tags_up_to(max).await,
            Self::Layout(layout) => {
                layout.tags().await.map(|tags| (tags.len() <= max).then_some(tags))
            }
        }
    }

    /// Manifests whose subject is `digest`: signatures, attestations and the like.
    pub async fn referrers(
        &self,
        digest: &Digest,
        artifact_type: Option<&str>,
    ) -> Result<Vec<Descriptor>> {
        match self {
            Self::Remote(remote) => remote.referrers(digest, artifact_type).await,
            Self::Layout(layout) => layout.referrers(digest, artifact_type).await,
        }
    }

    /// Removes a tag, or a manifest with all its tags.
    pub async fn delete(&self, target: &Target) -> Result<()> {
        match self {
            Self::Remote(remote) => remote.delete(target).await,
            Self::Layout(layout) => layout.delete(target).await,
        }
    }
}

/// Where it is: `oci://host/path`, or a path on disk.
impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(remote) => remote.reference().fmt(f),
            Self::Layout(layout) => layout.path().display().fmt(f),
        }
    }
}
