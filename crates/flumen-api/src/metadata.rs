//! The metadata of an object, as far as delivery asks for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::omitempty::{self, is_default};

/// Metadata of an object. All of it may be absent, so that files and partial answers can be read too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(skip_serializing_if = "is_default")]
    pub generation: i64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<Value>,
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
}
