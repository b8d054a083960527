//! `ExternalArtifact`: an artifact that somebody else makes and serves.

use serde::{Deserialize, Serialize};

use crate::{Artifact, Condition, Metadata, ObjectReference, kind::kind, omitempty::is_default};

/// An artifact of a third party. Its status is written by that party.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExternalArtifact {
    pub metadata: Metadata,
    #[serde(default)]
    pub spec: ExternalArtifactSpec,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: ExternalArtifactStatus,
}

kind!(ExternalArtifact: "source.toolkit.fluxcd.io", "v1", "ExternalArtifact", "externalartifacts");

/// What the artifact comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ExternalArtifactSpec {
    /// The object that the artifact is made from, for those who ask where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_ref: Option<ObjectReference>,
}

/// What the maker of the artifact says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ExternalArtifactStatus {
    /// The artifact that is served now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// State of the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
