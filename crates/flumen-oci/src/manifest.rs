//! Manifests and what they name.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{Digest, Error, Result, media_type};

/// Names content: what it is, its digest and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub media_type: String,
    pub size: u64,
    pub digest: Digest,
    /// Where the content can also be had, beside the repository or instead of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
}

impl Descriptor {
    /// Describes these bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::of(bytes), bytes.len() as u64)
    }

    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self {
            media_type: media_type.to_owned(),
            size,
            digest,
            urls: Vec::new(),
            annotations: BTreeMap::new(),
            artifact_type: None,
            platform: None,
        }
    }

    /// Whether it names a manifest or an index rather than a blob.
    pub fn is_manifest(&self) -> bool {
        let media_type = self.media_type.as_str();
        media_type::MANIFESTS.contains(&media_type) || media_type::INDEXES.contains(&media_type)
    }
}

/// What an image runs on; only read to choose from an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    pub architecture: String,
    pub os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// One image or artifact: a configuration and layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    pub config: Descriptor,
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A list of manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    pub schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A manifest of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    Manifest(Manifest),
    Index(Index),
}

impl Document {
    pub const fn subject(&self) -> Option<&Descriptor> {
        match self {
            Self::Manifest(manifest) => manifest.subject.as_ref(),
            Self::Index(index) => index.subject.as_ref(),
        }
    }
}

/// A manifest as its bytes, which are what its digest and every signature speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawManifest {
    pub descriptor: Descriptor,
    pub bytes: Bytes,
}

impl RawManifest {
    /// A manifest that is written here.
    pub fn new(media_type: &str, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { descriptor: Descriptor::of(media_type, &bytes), bytes }
    }

    pub const fn digest(&self) -> &Digest {
        &self.descriptor.digest
    }

    /// Reads it as the kind that its media type says.
    pub fn parse(&self) -> Result<Document> {
        let media_type = self.descriptor.media_type.as_str();
        let invalid =
            |reason: String| Error::InvalidManifest { digest: self.digest().clone(), reason };
        if self.is_ambiguous() {
            return Err(invalid("it is an image and an index at the same time".to_owned()));
        }
        if media_type::INDEXES.contains(&media_type) {
            let index = serde_json::from_slice(&self.bytes).map_err(|e| invalid(e.to_string()))?;
            Ok(Document::Index(index))
        } else if media_type::MANIFESTS.contains(&media_type) {
            let manifest =
                serde_json::from_slice(&self.bytes).map_err(|e| invalid(e.to_string()))?;
            Ok(Document::Manifest(manifest))
        } else {
            Err(invalid(format!("its media type `{media_type}` is not one of a manifest")))
        }
    }
    /// Whether one reader could take it for an image and the next one for an index.
    fn is_ambiguous(&self) -> bool {
        #[derive(Deserialize)]
        struct Shape {
            config: Option<IgnoredAny>,
            layers: Option<IgnoredAny>,
            manifests: Option<IgnoredAny>,
        }
        serde_json::from_slice::<Shape>(&self.bytes).is_ok_and(|shape| {
            shape.manifests.is_some() && (shape.layers.is_some() || shape.config.is_some())
        })
    }
}
