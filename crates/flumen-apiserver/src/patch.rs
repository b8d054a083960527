//! Patches on trees of JSON, as the libraries of the real server apply them.

mod json;
mod merge;
mod strategic;

use flumen_fields::go;

pub(crate) use self::{
    json::JsonPatch,
    merge::merge,
    strategic::{StrategicError, strategic_merge},
};

/// A patch as messages show it.
pub(crate) fn printed(patch: &serde_json::Map<String, serde_json::Value>) -> String {
    go::plain(&serde_json::Value::Object(patch.clone()))
}
