//! What a resource makes of objects: the one place where the rules of built-in kinds and of custom
//! resources are asked.
//!
//! Objects come in a version that is served and are kept in the version that is stored, the hub.
//! Preparation, validation and admission see the hub.

mod custom;
mod merged;
mod presented;
mod read;
mod scale;

use std::{borrow::Cow, sync::Arc};

use flumen_crd::Verdict;
use flumen_kinds::{NameRule, selectable::SelectableField};
use flumen_schema::api::{ApiKind, TypeId};
use serde_json::{Value, json};

pub(crate) use self::merged::read_merged;
pub(crate) use self::presented::{is_presented_as_stored, list_item, presented, source};
pub(crate) use self::read::{
    Problems, Read, check_version, read, read_restored, read_value, tighten,
};
pub(crate) use self::scale::{
    changing_scale_of, replicas_path, scale_of, selector_text, set_replicas,
};

use crate::{ApiError, Behaviour, Resource, storage::Stored};

pub(crate) fn name_kind(resource: &Resource, object: &mut Value) {
    if let Value::Object(map) = object {
        map.insert("apiVersion".to_owned(), resource.api_version().into());
        map.insert("kind".to_owned(), resource.kind.clone().into());
    }
}

/// An object of which nothing but metadata is known, as the real server shows it. Bookmarks have such ones.
pub(crate) fn nothing(resource: &Resource, metadata: Value) -> Value {
    let mut object = match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => flumen_kinds::nothing(kind, metadata),
        Behaviour::Custom { .. } if is_empty(&metadata) => json!({}),
        Behaviour::Custom { .. } => json!({ "metadata": metadata }),
    };
    name_kind(resource, &mut object);
    object
}

fn is_empty(metadata: &Value) -> bool {
    metadata.as_object().is_none_or(serde_json::Map::is_empty)
}

/// Whether objects are stored in the version of the resource.
pub(crate) fn is_hub(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { kind, hub } => std::ptr::eq(*kind, *hub),
        Behaviour::Custom { .. } => false,
    }
}

/// An object of the store as writes look at it: custom resources in the version of the request,
/// because their rules are those of a version.
pub(crate) fn live(resource: &Resource, mut stored: Stored) -> Stored {
    if let Behaviour::Custom { .. } = &resource.behaviour {
        let mut object = from_hub(resource, stored.object.clone());
        let version = object["apiVersion"].take();
        object["apiVersion"] = stored.object["apiVersion"].clone();
        // What it got from a newer schema is stored with the next write.
        stored.is_settled &= object == stored.object;
        object["apiVersion"] = version;
        stored.object = object;
    }
    stored
}

/// The version that an object is written in, if it is not the one that writes look at.
pub(crate) fn stored_version(resource: &Resource) -> Option<String> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => None,
        Behaviour::Custom { version, storage, .. } if Arc::ptr_eq(version, storage) => None,
        Behaviour::Custom { storage, .. } => Some(storage.api_version()),
    }
}

/// Refuses an object that the version that is stored cannot have.
pub(crate) fn check_stored(resource: &Resource, object: &Value) -> Result<(), ApiError> {
    let fault = match &resource.behaviour {
        Behaviour::Custom { version, storage, converter: None } => {
            custom::fault_in_storage(version, storage, object)
        }
        _ => None,
    };
    fault.map_or(Ok(()), |fault| Err(ApiError::new(500, None, fault)))
}

/// Converts an object of the version that is stored into the one that was asked for.
pub(crate) fn from_hub(resource: &Resource, object: Value) -> Value {
    match &resource.behaviour {
        _ if is_hub(resource) => object,
        Behaviour::Builtin { kind, hub } => flumen_kinds::convert(object, hub, kind),
        // A program has converted it already.
        Behaviour::Custom { version, converter: Some(_), .. } => {
            custom::load(version, version, object)
        }
        Behaviour::Custom { version, storage, .. } => custom::load(version, storage, object),
    }
}

/// The same for an object that is only looked at.
pub(crate) fn shown<'a>(resource: &Resource, object: &'a Value) -> Cow<'a, Value> {
    if is_hub(resource) {
        return Cow::Borrowed(object);
    }
    Cow::Owned(from_hub(resource, object.clone()))
}

/// Converts an object of the version of a request into the one that is stored.
pub(crate) fn to_hub(resource: &Resource, object: Value) -> Value {
    match &resource.behaviour {
        _ if is_hub(resource) => object,
        Behaviour::Builtin { kind, hub } => flumen_kinds::convert(object, kind, hub),
        Behaviour::Custom { .. } => object,
    }
}

/// The type that a strategic merge patch follows; custom resources have none.
pub(crate) fn patch_type(resource: &Resource) -> Option<TypeId> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => Some(kind.object),
        Behaviour::Custom { .. } => None,
    }
}

/// Gives a new object what it inherits from its own parts; says whether it did.
pub(crate) fn inherit_early(resource: &Resource, object: &mut Value) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => flumen_kinds::inherit_early(object, kind),
        Behaviour::Custom { .. } => false,
    }
}

/// Resets what a client may not set and fills in what the server owns.
pub(crate) fn prepare_create(resource: &Resource, object: &mut Value, now: &str) {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => {
            flumen_kinds::prepare_create(hub, object, now);
            // They were emptied until those of the template had grown.
            if object["metadata"].get("labels").is_some_and(|labels| *labels == json!({})) {
                flumen_kinds::inherit_early(object, hub);
            }
            if is_definition(hub) {
                flumen_crd::prepare_create(object);
                // What the status has before anyone has looked at the definition.
                let status = &mut object["status"];
                if status.get("acceptedNames").is_none() {
                    status["acceptedNames"] = json!({ "kind": "", "plural": "" });
                    status["conditions"] = Value::Null;
                }
            }
        }
        Behaviour::Custom { version, .. } => version.prepare_create(object),
    }
}

/// Fills in what a new object says in an old way, after it was found to be valid.
pub(crate) fn finish_create(resource: &Resource, object: &mut Value) {
    if let Behaviour::Builtin { hub, .. } = &resource.behaviour {
        flumen_kinds::finish_create(hub, object);
    }
}

/// Fills in defaults of an object that is ready to be stored; custom resources have theirs already.
pub(crate) fn fill_defaults(resource: &Resource, object: &mut Value) {
    if let Behaviour::Builtin { hub, .. } = &resource.behaviour {
        flumen_kinds::default(object, hub);
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
        (Behaviour::Builtin { hub, .. }, "") => {
            flumen_kinds::prepare_update(hub, new, old);
            if is_definition(hub) {
                flumen_crd::prepare_update(new, old);
            }
        }
        (Behaviour::Builtin { hub, .. }, _) => {
            flumen_kinds::prepare_subresource_update(hub, subresource, new, old, now);
        }
        (Behaviour::Custom { version, .. }, part) => {
            custom::keep_metadata(new, old);
            match part {
                "status" => version.prepare_status_update(new, old),
                _ => version.prepare_update(new, old),
            }
        }
    }
}

/// What is wrong with a new object, and what a user should know although nothing is.
pub(crate) fn validate_create(resource: &Resource, object: &Value) -> Verdict {
    match &resource.behaviour {
        // Rules may differ between versions, and all of them see the version that is stored.
        Behaviour::Builtin { kind, hub } => {
            if is_definition(hub) {
                let names = NameRule::Subdomain;
                let mut errors = flumen_kinds::validate_metadata(object, false, names);
                errors.extend(flumen_crd::validate_create(object));
                return Verdict { errors, warnings: flumen_crd::warnings(object, None) };
            }
            let errors = flumen_kinds::validate_create(kind, object);
            Verdict { errors, warnings: flumen_kinds::warnings(hub, object, None) }
        }
        Behaviour::Custom { version, .. } => version.validate_create(object),
    }
}

/// The same for an object that replaces another, as a whole or in a part.
pub(crate) fn validate_update(
    resource: &Resource,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Verdict {
    match (&resource.behaviour, subresource) {
        (Behaviour::Builtin { kind, hub }, "") => {
            if is_definition(hub) {
                let mut errors = flumen_kinds::validate_any_update(new, old, false);
                errors.extend(flumen_kinds::validate_metadata_update(new, old));
                errors.extend(flumen_crd::validate_update(new, old));
                return Verdict { errors, warnings: flumen_crd::warnings(new, Some(old)) };
            }
            let errors = flumen_kinds::validate_update(kind, new, old);
            Verdict { errors, warnings: flumen_kinds::warnings(hub, new, Some(old)) }
        }
        (Behaviour::Builtin { hub, .. }, _) => {
            let mut errors = flumen_kinds::validate_subresource_update(hub, subresource, new, old);
            if is_definition(hub) {
                errors.extend(flumen_crd::validate_status(new));
            }
            Verdict { errors, warnings: Vec::new() }
        }
        (Behaviour::Custom { version, .. }, "status") => version.validate_status_update(new, old),
        (Behaviour::Custom { version, .. }, _) => version.validate_update(new, old),
    }
}

fn is_definition(kind: &ApiKind) -> bool {
    (kind.group, kind.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
}

/// The group and kind that messages about invalid objects name.
pub(crate) fn hub_kind<'a>(resource: &'a Resource, object: &'a Value) -> (&'a str, &'a str) {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => (hub.group, hub.kind),
        // Another kind than that of the resource is one of the things that are refused.
        Behaviour::Custom { .. } => {
            (&resource.group, object["kind"].as_str().unwrap_or(&resource.kind))
        }
    }
}

/// What every answer about a version says that will go.
pub(crate) fn deprecation(resource: &Resource) -> Option<&str> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => flumen_kinds::deprecation(kind),
        Behaviour::Custom { version, .. } => version.deprecation_warning.as_deref(),
    }
}

/// Whether objects can be selected by a field.
pub(crate) fn check_selectable(resource: &Resource, field: &str) -> Result<(), String> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => SelectableField::of(&resource.group, &resource.kind, field)
            .map(drop)
            .map_err(|unknown| unknown.to_string()),
        Behaviour::Custom { version, .. } => {
            let is_known = matches!(field, "metadata.name" | "metadata.namespace")
                || version.selectable.iter().any(|known| known == field);
            if is_known { Ok(()) } else { Err(format!("field label not supported: {field}")) }
        }
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
        Behaviour::Custom { version, .. } => Cow::Owned(version.selectable_value(object, field)),
    }
}

/// Whether a PUT of a missing object creates it.
pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::creates_on_update(hub),
        Behaviour::Custom { .. } => false,
    }
}

/// Whether a PUT without a version overwrites.
pub(crate) fn updates_without_version(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::updates_without_version(hub),
        Behaviour::Custom { .. } => false,
    }
}
