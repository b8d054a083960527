//! What a manifest names. Its bytes are stored as they came.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Layers of these types live elsewhere by design.
const FOREIGN: [&str; 4] = [
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
];

/// A manifest that may be stored.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) media_type: String,
    /// Content that must be in the repository before the manifest is.
    pub(crate) needs: Vec<Digest>,
    pub(crate) referrer: Option<Referrer>,
}

/// The manifest says something about another one.
#[derive(Debug)]
pub(crate) struct Referrer {
    pub(crate) subject: Digest,
    /// How the list of referrers shows it: a descriptor as JSON.
    pub(crate) entry: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    media_type: &'a str,
    digest: &'a str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// The fields that matter here; any kind of manifest may have more.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<Named>,
    layers: Option<Vec<Named>>,
    manifests: Option<Vec<Named>>,
    blobs: Option<Vec<Named>>,
    subject: Option<Named>,
    annotations: Option<BTreeMap<String, String>>,
    fs_layers: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    #[serde(default)]
    media_type: String,
    digest: String,
}

impl Manifest {
    /// Reads a manifest that was sent with this content type; the error says what is wrong with it.
    pub(crate) fn read(
        bytes: &[u8],
        digest: &Digest,
        content_type: Option<&str>,
    ) -> Result<Self, String> {
        let content: Content =
            serde_json::from_slice(bytes).map_err(|error| format!("not a manifest: {error}"))?;
        if content.fs_layers.is_some() {
            return Err("manifests of schema 1 are not supported".to_owned());
        }
        // Clients would choose differently between the two readings.
        if content.manifests.is_some() && (content.layers.is_some() || content.config.is_some()) {
            return Err("both an index and an image".to_owned());
        }
        let media_type = match (content_type, &content.media_type) {
            (Some(sent), Some(inside)) if sent != inside => {
                return Err(format!("sent as {sent}, but calls itself {inside}"));
            }
            (Some(sent), _) => sent.to_owned(),
            (None, Some(inside)) => inside.clone(),
            (None, None) if content.manifests.is_some() => OCI_INDEX.to_owned(),
            (None, None) => OCI_MANIFEST.to_owned(),
        };

        let named = [&content.layers, &content.manifests, &content.blobs];
        let needs = content
            .config
            .iter()
            .chain(named.into_iter().flatten().flatten())
            .filter(|named| !FOREIGN.contains(&named.media_type.as_str()))
            .map(Named::digest)
            .collect::<Result<_, _>>()?;

        let referrer = match &content.subject {
            None => None,
            Some(subject) => {
                let own_type = content.artifact_type.filter(|kind| !kind.is_empty());
                let config_type = content.config.map(|config| config.media_type);
                let descriptor = Descriptor {
                    media_type: &media_type,
                    digest: digest.as_str(),
                    size: bytes.len(),
                    artifact_type: own_type.or(config_type),
                    annotations: content.annotations.unwrap_or_default(),
                };
                let entry =
                    serde_json::to_string(&descriptor).map_err(|error| error.to_string())?;
                Some(Referrer { subject: subject.digest()?, entry })
            }
        };
        Ok(Self { media_type, needs, referrer })
    }
}

impl Named {
    fn digest(&self) -> Result<Digest, String> {
        self.digest.parse().map_err(|_| format!("{:?} is no digest", self.digest))
    }
}
