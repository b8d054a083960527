//! The small references: something by its name, in a namespace or in one's own.

use serde::{Deserialize, Serialize};

use crate::omitempty;

/// An object of a known kind in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LocalReference {
    /// Name of the object.
    pub name: String,
}

/// A Secret in the same namespace, and the key of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyReference {
    /// Name of the Secret.
    pub name: String,
    /// Key in the Secret; the user of the reference says what holds without one.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub key: Option<String>,
}

/// An object of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// API version of the object.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub api_version: Option<String>,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// Namespace of the object; without one, that of the object that refers to it.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub namespace: Option<String>,
}
