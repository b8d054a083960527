//! Metadata of objects, read and written in place.

use serde_json::{Map, Value};

/// The metadata, or nothing if the object has none that is a map.
pub(crate) fn of(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// The metadata, made if it is missing.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let slot = match object {
        Value::Object(map) => map.entry("metadata").or_insert(Value::Null),
        other => other,
    };
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(map) => map,
        // The value was made a map above.
        _ => unreachable!("metadata is a map"),
    }
}

/// A text of the metadata; empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object).and_then(|meta| meta.get(field)).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

pub(crate) fn resource_version(object: &Value) -> &str {
    text(object, "resourceVersion")
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    has(object, "deletionTimestamp")
}

/// Whether the metadata has a field that is not null.
pub(crate) fn has(object: &Value, field: &str) -> bool {
    of(object).and_then(|meta| meta.get(field)).is_some_and(|value| !value.is_null())
}

pub(crate) fn number(object: &Value, field: &str) -> Option<i64> {
    of(object)?.get(field)?.as_i64()
}

pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    of(object)?.get("labels")?.get(key)?.as_str()
}

pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let list = of(object).and_then(|meta| meta.get("finalizers")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    of_mut(object).insert(field.to_owned(), value.into());
}

pub(crate) fn remove(object: &mut Value, field: &str) -> Option<Value> {
    object.get_mut("metadata")?.as_object_mut()?.remove(field)
}

/// An empty list leaves no field behind.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers);
    }
}

/// The items of a list below a map, to be changed. Nothing is made where there is none.
pub(crate) fn items_mut<'a>(of: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}
