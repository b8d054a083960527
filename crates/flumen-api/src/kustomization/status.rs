//! What is known of the last passes over a Kustomization.

use serde::{Deserialize, Serialize};

use crate::{
    Condition, History,
    omitempty::{self, is_default},
};

/// What was done last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct KustomizationStatus {
    /// The generation that was reconciled last, with success or for good.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// The last request to reconcile that was answered.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// The revision that was tried last.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,
    /// The revision that was applied last, and found healthy.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// The revision of what that revision was made from.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_applied_origin_revision: Option<String>,
    /// The objects that were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,
    /// State of the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What was reconciled, the latest first.
    #[serde(skip_serializing_if = "is_default")]
    pub history: History,
}

/// The objects that were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inventory {
    /// The objects, in the order in which they were applied.
    pub entries: Vec<InventoryEntry>,
}

/// An object that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InventoryEntry {
    /// The object, as `<namespace>_<name>_<group>_<kind>`.
    pub id: String,
    /// API version without its group.
    pub v: String,
}
