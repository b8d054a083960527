//! Objects of the store as readers see them.

use serde_json::Value;

use super::{from_hub, is_hub, read::contains};
use crate::{Behaviour, Representation, Resource};

/// An object of the store in the version of a resource, as the real server shows it.
pub(crate) fn presented(resource: &Resource, object: Value) -> Value {
    let mut object = from_hub(resource, object);
    if let Behaviour::Builtin { kind, .. } = &resource.behaviour {
        flumen_kinds::present(kind, &mut object);
    }
    object
}

/// What an object of the store is shown from. Tables and metadata alone are made of built-in kinds as they are
/// stored, for that version may know more.
pub(crate) fn source(resource: &Resource, representation: Representation, object: Value) -> Value {
    match (&resource.behaviour, representation) {
        (_, Representation::Object) | (Behaviour::Custom { .. }, _) => presented(resource, object),
        (Behaviour::Builtin { .. }, _) => object,
    }
}

/// The same as lists have it: items of built-in kinds do not repeat their kind.
pub(crate) fn list_item(resource: &Resource, object: Value) -> Value {
    let mut object = presented(resource, object);
    if let (Behaviour::Builtin { .. }, Value::Object(map)) = (&resource.behaviour, &mut object) {
        map.remove("apiVersion");
        map.remove("kind");
    }
    object
}

/// Whether readers see an object just as its value in the store has it. Says no too often rather than too
/// seldom.
pub(crate) fn is_presented_as_stored(resource: &Resource, value: &[u8]) -> bool {
    let Behaviour::Builtin { kind, .. } = &resource.behaviour else { return false };
    let is_changed =
        flumen_kinds::sign_of_presented(kind).is_some_and(|sign| contains(value, sign));
    is_hub(resource) && !is_changed
}
