//! What shapes the objects of a Kustomization between its source and the cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    LocalReference,
    omitempty::{self, is_default},
};

/// Labels and annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CommonMetadata {
    /// Labels that every object gets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations that every object gets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Which objects are meant. What is not given matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Target {
    /// Pattern of the whole API group.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Pattern of the whole API version.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Pattern of the whole kind.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Pattern of the whole name.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pattern of the whole namespace.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Selector over labels.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// Selector over annotations.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub annotation_selector: Option<String>,
}

/// A patch of what is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Patch {
    /// The patch: strategic merge, or JSON 6902.
    pub patch: String,
    /// The objects that it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// An image to replace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Name of the image in the manifests.
    pub name: String,
    /// Name that it gets.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub new_name: Option<String>,
    /// Tag that it gets.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub new_tag: Option<String>,
    /// Digest that it gets, instead of a tag.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub digest: Option<String>,
}

/// An annotation that tells where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BuildMetadata {
    OriginAnnotations,
    TransformerAnnotations,
}

/// What is done with the text that was built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PostBuild {
    /// Variables and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub substitute: BTreeMap<String, String>,
    /// Objects of this namespace whose keys are variables. Later ones win, and `substitute` over all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub substitute_from: Vec<SubstituteReference>,
    /// Whether to substitute if there are no variables at all.
    #[serde(skip_serializing_if = "is_default")]
    pub substitute_strategy: SubstituteStrategy,
}

/// An object whose keys are variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubstituteReference {
    /// Kind of the object.
    pub kind: SubstituteKind,
    /// Name of the object.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 253)))]
    pub name: String,
    /// Whether the object may be missing.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub optional: bool,
}

/// The kinds that hold variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubstituteKind {
    Secret,
    ConfigMap,
}

/// When variables are substituted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubstituteStrategy {
    #[default]
    WithVariables,
    Always,
}

/// How encrypted manifests are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decryption {
    /// Format of the encryption.
    pub provider: DecryptionProvider,
    /// Secret of this namespace with the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Service account whose identity reaches the key service of a cloud.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub service_account_name: Option<String>,
}

/// Formats of encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DecryptionProvider {
    Sops,
}

/// Fields that others may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IgnoreRule {
    /// JSON pointers of the fields.
    pub paths: Vec<String>,
    /// The objects; all of them if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}
