//! What a resource makes of objects: the one place where the rules of built-in kinds and of custom
//! resources are asked.
//!
//! Objects come in a version that is served and are kept in the version that is stored, the hub.
//! Preparation, validation and admission see the hub.

use serde_json::Value;

use crate::{ApiError, Behaviour, Resource, meta};

/// Converts an object of the version that is stored into the one that was asked for.
pub(crate) fn from_hub(resource: &Resource, object: Value) -> Result<Value, ApiError> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, hub } if std::ptr::eq(*kind, *hub) => Ok(object),
        Behaviour::Builtin { .. } => Ok(object),
    }
}

/// Converts an object of the version of a request into the one that is stored.
pub(crate) fn to_hub(resource: &Resource, object: Value) -> Result<Value, ApiError> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, hub } if std::ptr::eq(*kind, *hub) => Ok(object),
        Behaviour::Builtin { .. } => Ok(object),
    }
}

/// Whether objects can be selected by a field.
pub(crate) fn check_selectable(_resource: &Resource, field: &str) -> Result<(), String> {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return Ok(());
    }
    Err(format!(
        "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    ))
}

pub(crate) fn selectable_value<'a>(_resource: &Resource, object: &'a Value, field: &str) -> &'a str {
    match field {
        "metadata.name" => meta::name(object),
        "metadata.namespace" => meta::namespace(object),
        _ => "",
    }
}
