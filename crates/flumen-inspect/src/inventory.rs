//! Inventories with their objects and their history.

use flumen_apply::{Deployment, Entry, Listed, Recorded};
use serde::Serialize;

/// An inventory with its objects and its history.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InventoryDetails {
    pub name: String,
    pub namespace: String,
    pub last_applied: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    pub artifacts: Vec<String>,
    pub resources: Vec<InventoryObject>,
    pub history: Vec<Deployment>,
}

/// An object in an inventory.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InventoryObject {
    pub api_version: String,
    pub kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
}

impl InventoryDetails {
    pub fn new(listed: Listed, recorded: Recorded) -> Self {
        Self {
            name: listed.name,
            namespace: listed.namespace,
            last_applied: listed.last_applied,
            source: listed.source,
            revision: listed.revision,
            artifacts: listed.artifacts,
            resources: recorded.inventory.entries().into_iter().map(InventoryObject::of).collect(),
            history: recorded.history,
        }
    }
}

impl InventoryObject {
    fn of(entry: &Entry) -> Self {
        let id = &entry.id;
        Self {
            api_version: id.gvk.api_version(),
            kind: id.gvk.kind.to_string(),
            namespace: id.namespace.to_string(),
            name: id.name.to_string(),
        }
    }
}
