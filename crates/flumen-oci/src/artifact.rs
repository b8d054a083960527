//! How manifests are packed into an artifact, and how they are read back.
//!
//! Three ways of packing ([`Format`]) and one more that is only read; the reader tells them apart by
//! what the manifest says, so nobody has to.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;

use crate::{Descriptor, Digest, Error, RawManifest, Repository, Result, Target};

/// How content is laid out in an artifact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One layer with `all.yaml`, as kustomizer writes it.
    #[default]
    Kustomizer,
    /// The same layer under an OCI 1.1 manifest with an artifact type.
    Oci,
    /// A directory as it is, as `flux push artifact` writes it.
    Flux,
}

/// What is said about an artifact beside its content.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// Where the content comes from; empty if that is not known.
    pub source: String,
    /// Which state of the source; `branch@sha1:commit` by convention.
    pub revision: String,
    pub created: Timestamp,
    /// Further annotations, which win over those that are derived.
    pub annotations: BTreeMap<String, String>,
}

/// An artifact that was made here and is not stored anywhere yet.
#[derive(Clone, Debug)]
pub struct Packed {
    pub manifest: RawManifest,
    pub blobs: Vec<(Descriptor, Bytes)>,
}

impl Packed {
    /// Stores it; the tag appears last.
    pub async fn push(&self, _to: &Repository, _tag: Option<&str>) -> Result<Digest> {
        Err(Error::Missing)
    }
}

/// Packs objects, given as multi-document YAML.
pub fn pack_yaml(_yaml: &[u8], _format: Format, _metadata: &Metadata) -> Result<Packed> {
    Err(Error::Missing)
}

/// How much an artifact may hold.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes after unpacking.
    pub bytes: u64,
    pub files: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: 256 << 20, files: 10_000 }
    }
}

/// What a reader is given beside the artifact's name.
#[derive(Clone, Debug, Default)]
pub struct PullOptions {
    pub budget: Budget,
}

/// An artifact that was read and checked.
#[derive(Clone, Debug)]
pub struct Pulled {
    pub manifest: RawManifest,
    /// All manifests as one multi-document YAML text.
    pub yaml: Bytes,
}

/// Reads an artifact of any format as manifests.
pub async fn pull(_from: &Repository, _target: &Target, _options: &PullOptions) -> Result<Pulled> {
    Err(Error::Missing)
}
