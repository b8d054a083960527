//! One repository on a registry, over HTTP.

use crate::{BlobStream, Descriptor, Digest, Error, RawManifest, Result, Target};

/// A repository of a registry.
#[derive(Clone, Debug)]
pub struct RemoteRepository(());

impl RemoteRepository {
    pub(crate) async fn resolve(&self, _target: &Target) -> Result<Descriptor> {
        Err(Error::Missing)
    }

    pub(crate) async fn manifest(&self, _target: &Target) -> Result<RawManifest> {
        Err(Error::Missing)
    }

    pub(crate) async fn put_manifest(&self, _: &RawManifest, _: Option<&str>) -> Result<()> {
        Err(Error::Missing)
    }

    pub(crate) async fn has_blob(&self, _descriptor: &Descriptor) -> Result<bool> {
        Err(Error::Missing)
    }

    pub(crate) async fn blob(&self, _descriptor: &Descriptor) -> Result<BlobStream> {
        Err(Error::Missing)
    }

    pub(crate) async fn put_blob(&self, _: &Descriptor, _: BlobStream) -> Result<()> {
        Err(Error::Missing)
    }

    pub(crate) async fn tags(&self) -> Result<Vec<String>> {
        Err(Error::Missing)
    }

    pub(crate) async fn referrers(&self, _: &Digest, _: Option<&str>) -> Result<Vec<Descriptor>> {
        Err(Error::Missing)
    }

    pub(crate) async fn delete(&self, _target: &Target) -> Result<()> {
        Err(Error::Missing)
    }
}
