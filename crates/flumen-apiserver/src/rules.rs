//! What a resource makes of objects: the one place where the rules of built-in kinds and of custom
//! resources are asked.
//!
//! Objects come in a version that is served and are kept in the version that is stored, the hub.
//! Preparation, validation and admission see the hub.

use std::borrow::Cow;

use flumen_fields::FieldError;
use flumen_kinds::selectable::SelectableField;
use serde_json::Value;

use crate::{ApiError, Behaviour, Resource};

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

/// Resets what a client may not set and fills in what the server owns.
pub(crate) fn prepare_create(resource: &Resource, object: &mut Value, now: &str) {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::prepare_create(hub, object, now),
    }
}

/// The same for an update, of the object itself or of a subresource.
pub(crate) fn prepare_update(
    resource: &Resource,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    match (&resource.behaviour, subresource) {
        (Behaviour::Builtin { hub, .. }, "") => flumen_kinds::prepare_update(hub, new, old),
        (Behaviour::Builtin { hub, .. }, _) => {
            flumen_kinds::prepare_subresource_update(hub, subresource, new, old, now);
        }
    }
}

pub(crate) fn validate_create(resource: &Resource, object: &Value) -> Vec<FieldError> {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::validate_create(hub, object),
    }
}

pub(crate) fn validate_update(
    resource: &Resource,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<FieldError> {
    match (&resource.behaviour, subresource) {
        (Behaviour::Builtin { hub, .. }, "") => flumen_kinds::validate_update(hub, new, old),
        (Behaviour::Builtin { hub, .. }, _) => {
            flumen_kinds::validate_subresource_update(hub, subresource, new, old)
        }
    }
}

/// What a user should know about a valid object.
pub(crate) fn warnings(resource: &Resource, new: &Value, old: Option<&Value>) -> Vec<String> {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::warnings(hub, new, old),
    }
}

/// The group and kind that messages about invalid objects name.
pub(crate) fn hub_kind(resource: &Resource) -> (&str, &str) {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => (hub.group, hub.kind),
    }
}

/// Whether objects can be selected by a field.
pub(crate) fn check_selectable(resource: &Resource, field: &str) -> Result<(), String> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => SelectableField::of(&resource.group, &resource.kind, field)
            .map(drop)
            .map_err(|unknown| unknown.to_string()),
    }
}

/// The value of a field that can be selected by, in the version that is stored.
pub(crate) fn selectable_value<'a>(
    resource: &Resource,
    object: &'a Value,
    field: &str,
) -> Cow<'a, str> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => SelectableField::of(&resource.group, &resource.kind, field)
            .map_or(Cow::Borrowed(""), |field| field.value(object)),
    }
}

/// Whether a PUT of a missing object creates it.
pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::creates_on_update(hub),
    }
}

/// Whether a PUT without a version overwrites.
pub(crate) fn updates_without_version(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::updates_without_version(hub),
    }
}
