//! What the server makes of an object before it looks whether it is valid: what a client may not set
//! is reset, what the server owns is filled in, and the generation is counted.
//!
//! [`strategy`] says it as data; `pods`, `services` and `single` hold what data cannot say.

mod app_armor;
mod devices;
mod pods;
mod services;
mod single;
mod strategy;

use flumen_schema::api::{Api, ApiKind};
use serde_json::Value;

pub(crate) use pods::quality_of_service;
pub(crate) use single::{TEMPLATE_GENERATION, drop_template_generation};
pub use strategy::{counts_empty, creates_on_update, reset_fields, updates_without_version};

use crate::canonical::{zero, zero_form};
use crate::read::Read;
use strategy::Generation;

/// Prepares a new object. Its name, uid and creation time are there already. The time is in the form
/// of RFC 3339, to the second. Defaults that follow from what is set here are left to whoever stores
/// the object, because the real server adds them only when it reads what it stored.
pub fn prepare_create(kind: &ApiKind, object: &mut Value, now: &str) {
    let strategy = strategy::of(kind);
    if strategy.generation != Generation::Uncounted {
        set_meta(object, "generation", 1.into());
    }
    if strategy.has_status {
        set(object, "status", empty_status(kind));
    }
    (strategy.create)(object, now);
}

/// Adds to a new object that is valid what it says in a way that was given up.
pub fn finish_create(kind: &ApiKind, object: &mut Value) {
    if (kind.group, kind.kind) == ("", "Pod") {
        app_armor::read_annotations(object);
    }
}

/// Prepares an object that replaces another.
pub fn prepare_update(kind: &ApiKind, new: &mut Value, old: &Value) {
    let strategy = strategy::of(kind);
    keep_generation(new, old);
    if strategy.has_status || strategy.keeps_status {
        copy(new, old, "status");
    }
    (strategy.update)(new, old);
    if strategy.generation.grows(new, old) {
        count(new, old);
    }
    keep_meta(new, old);
}

/// Prepares an object that was sent to a subresource of its kind: `status`, `finalize`, `approval`,
/// `ephemeralcontainers` or `resize`.
pub fn prepare_subresource_update(
    kind: &ApiKind,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    keep_generation(new, old);
    for path in reset_fields(kind, subresource) {
        match path {
            // Nothing of it can be changed there, but who manages what is still written down.
            ["metadata"] => {
                let managed = new.part("metadata").get("managedFields").cloned();
                copy(new, old, "metadata");
                if let Some(managed) = managed {
                    set_meta(new, "managedFields", managed);
                }
            }
            [field] => copy(new, old, field),
            [parent, field] => copy_in(new, old, parent, field),
            _ => {}
        }
    }
    match (kind.kind, subresource) {
        ("Pod", _) => pods::prepare_subresource(subresource, new, old),
        _ => single::prepare_subresource(kind.kind, subresource, new, old, now),
    }
    keep_meta(new, old);
}

/// Makes of an object as it is stored what those who read it see.
pub fn present(kind: &ApiKind, object: &mut Value) {
    if is_presented_otherwise(kind) {
        services::present(object);
    }
}

/// What the text of an object has if it is seen otherwise than it is stored.
pub fn sign_of_presented(kind: &ApiKind) -> Option<&'static [u8]> {
    is_presented_otherwise(kind).then_some(services::OUTSIDE.as_bytes())
}

fn is_presented_otherwise(kind: &ApiKind) -> bool {
    (kind.group, kind.kind) == ("", "Service")
}

/// An object of which nothing but metadata is known, without its kind. The real server makes it of its own types,
/// of which some always have what a version leaves out.
pub fn nothing(kind: &ApiKind, metadata: Value) -> Value {
    let mut object = zero(kind.object);
    set(&mut object, "metadata", metadata);
    match (kind.group, kind.kind) {
        ("apps", "DaemonSet") => single::template_generation(&mut object, 0),
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") => {
            set_in(&mut object, "spec", "replicas", 0.into());
        }
        _ => {}
    }
    object
}

/// The status of an object that nobody has looked at yet.
fn empty_status(kind: &ApiKind) -> Value {
    let status = Api::get().type_of(kind.object).field("status");
    status.map_or(Value::Null, |field| zero_form(&field.form))
}

fn keep_generation(new: &mut Value, old: &Value) {
    match old.part("metadata").get("generation") {
        Some(generation) => set_meta(new, "generation", generation.clone()),
        None => remove_in(new, "metadata", "generation"),
    }
}

/// Counts an update as a change of what is wanted.
pub fn count(new: &mut Value, old: &Value) {
    let generation = old.part("metadata").int("generation") + 1;
    set_meta(new, "generation", generation.into());
}

/// What an update can never change.
fn keep_meta(new: &mut Value, old: &Value) {
    let was = old.part("metadata");
    if new.part("metadata").text("uid").is_empty() {
        copy_in(new, old, "metadata", "uid");
    }
    for field in ["creationTimestamp", "deletionTimestamp"] {
        if was.some(field).is_some() {
            copy_in(new, old, "metadata", field);
        }
    }
    let grace = "deletionGracePeriodSeconds";
    if was.some(grace).is_some() && new.part("metadata").some(grace).is_none() {
        copy_in(new, old, "metadata", grace);
    }
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(field.to_owned(), value);
    }
}

fn remove(object: &mut Value, field: &str) {
    if let Value::Object(fields) = object {
        fields.remove(field);
    }
}

fn set_in(object: &mut Value, parent: &str, field: &str, value: Value) {
    if let Value::Object(fields) = object {
        let parent = fields.entry(parent).or_insert_with(|| Value::Object(serde_json::Map::new()));
        if parent.is_null() {
            *parent = Value::Object(serde_json::Map::new());
        }
        set(parent, field, value);
    }
}

fn set_meta(object: &mut Value, field: &str, value: Value) {
    set_in(object, "metadata", field, value);
}

fn remove_in(object: &mut Value, parent: &str, field: &str) {
    if let Some(parent) = object.get_mut(parent) {
        remove(parent, field);
    }
}

/// Takes a field as it was.
fn copy(new: &mut Value, old: &Value, field: &str) {
    match old.get(field) {
        Some(value) => set(new, field, value.clone()),
        None => remove(new, field),
    }
}

fn copy_in(new: &mut Value, old: &Value, parent: &str, field: &str) {
    match old.part(parent).get(field) {
        Some(value) => set_in(new, parent, field, value.clone()),
        None => remove_in(new, parent, field),
    }
}

#[cfg(test)]
mod tests;
