//! What the manifest of an artifact says about it.

use super::{annotations, read::Layout};
use crate::{Manifest, media_type};

/// Who built an artifact, when, from what; as far as its manifest says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `kustomizer`, `oci`, `flux`, `oras` or `image`.
    pub layout: &'static str,
    /// The version of the program that packed it.
    pub built_by: Option<String>,
    pub created: Option<String>,
    /// The SHA-256 of the plain text.
    pub checksum: Option<String>,
    pub encryption: Option<String>,
    pub source: Option<String>,
    pub revision: Option<String>,
}

impl About {
    pub(super) fn new(manifest: &Manifest, layout: &Layout) -> Self {
        let annotation = |name: &str| manifest.annotations.get(name).cloned();
        let is_oci = manifest.artifact_type.as_deref() == Some(media_type::FLUMEN_MANIFESTS);
        Self {
            layout: match layout {
                Layout::Text { .. } if is_oci => "oci",
                Layout::Text { .. } => "kustomizer",
                _ if manifest.config.media_type == media_type::FLUX_CONFIG => "flux",
                Layout::Files(_) => "oras",
                Layout::Tree(_) => "image",
            },
            built_by: annotation(annotations::VERSION),
            created: annotation(annotations::KUSTOMIZER_CREATED)
                .or_else(|| annotation(annotations::CREATED)),
            checksum: annotation(annotations::CHECKSUM),
            encryption: annotation(annotations::ENCRYPTED),
            source: annotation(annotations::SOURCE),
            revision: annotation(annotations::REVISION),
        }
    }
}
