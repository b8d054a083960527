//! What a source offers to those who build from it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The metadata of an artifact that names the revision of what it was made from.
const ORIGIN_REVISION: &str = "org.opencontainers.image.revision";

/// The last content that was fetched from a source and stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Place of the file below the root of the storage.
    pub path: String,
    /// Address at which the file is served.
    pub url: String,
    /// Revision of the content in its source, such as `main@sha1:…`.
    pub revision: String,
    /// Digest of the file, as `<algorithm>:<hex>`.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$"))
    )]
    pub digest: String,
    /// When the file was stored.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::DateTime"))]
    pub last_update_time: Timestamp,
    /// Length of the file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// What the source says of the content, such as annotations of an OCI manifest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Artifact {
    /// The revision of what the content was made from, where its maker tells.
    pub fn origin_revision(&self) -> Option<&str> {
        self.metadata.get(ORIGIN_REVISION).map(String::as_str)
    }
}
