//! Reading objects, and the parts of them that controllers write.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::kind::Kind;

pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

pub(crate) fn number_or(object: &Value, pointer: &str, other: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(other)
}

pub(crate) fn flag(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

pub(crate) fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(crate) fn map<'a>(object: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    object.pointer(pointer).and_then(Value::as_object)
}

pub(crate) fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    text(object, pointer).parse().ok()
}

/// A time as objects have it, in whole seconds.
pub(crate) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// The version as a number, to tell which of two is newer.
pub(crate) fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or_default()
}

pub(crate) fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    map(object, "/metadata/annotations")?.get(name)?.as_str()
}

pub(crate) fn label<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    map(object, "/metadata/labels")?.get(name)?.as_str()
}

/// Whether its deletion has begun.
pub(crate) fn is_ending(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub(crate) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    items(object, "/metadata/finalizers").iter().any(|given| given == finalizer)
}

/// A copy without one finalizer.
pub(crate) fn without_finalizer(object: &Value, finalizer: &str) -> Value {
    let mut copy = object.clone();
    if let Some(list) = copy.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) {
        list.retain(|given| given != finalizer);
    }
    copy
}

/// The reference to the controller of an object.
pub(crate) fn controller(object: &Value) -> Option<&Value> {
    items(object, "/metadata/ownerReferences").iter().find(|owner| flag(owner, "/controller"))
}

pub(crate) fn is_controlled_by(object: &Value, uid: &str) -> bool {
    controller(object).is_some_and(|owner| text(owner, "/uid") == uid)
}

/// The reference by which an object names its controller.
pub(crate) fn controlled_by(kind: Kind, owner: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "name": name(owner),
        "uid": uid(owner),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// Sets a field of an object, and the objects on the way to it.
pub(crate) fn set(object: &mut Value, pointer: &str, value: impl Into<Value>) {
    let mut place = object;
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        let Value::Object(map) = place else { return };
        place = map.entry(name.replace("~1", "/")).or_insert(Value::Null);
    }
    *place = value.into();
}

/// Sets an annotation; its name may have slashes.
pub(crate) fn annotate(object: &mut Value, name: &str, value: &str) {
    set(object, &format!("/metadata/annotations/{}", name.replace('/', "~1")), value);
}

pub(crate) fn condition<'a>(object: &'a Value, type_name: &str) -> Option<&'a Value> {
    items(object, "/status/conditions").iter().find(|c| text(c, "/type") == type_name)
}

pub(crate) fn is_true(object: &Value, type_name: &str) -> bool {
    condition(object, type_name).is_some_and(|c| text(c, "/status") == "True")
}

/// A number, or a share of a whole.
pub(crate) fn number_or_share(value: Option<&Value>, whole: i64, round_up: bool) -> i64 {
    match value {
        Some(Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(Value::String(share)) => {
            let percent: i64 = share.trim_end_matches('%').parse().unwrap_or_default();
            let product = percent * whole;
            if round_up { (product + 99) / 100 } else { product / 100 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_as_asked() {
        for (value, whole, up, expected) in [
            (json!(2), 10, true, 2),
            (json!("25%"), 3, true, 1),
            (json!("25%"), 3, false, 0),
            (json!("100%"), 7, false, 7),
        ] {
            assert_eq!(number_or_share(Some(&value), whole, up), expected, "{value} of {whole}");
        }
        assert_eq!(number_or_share(None, 5, true), 0);
    }

    #[test]
    fn setting_makes_what_is_missing() {
        let mut object = json!({"metadata": {"name": "a"}});
        annotate(&mut object, "example.com/x", "1");
        assert_eq!(annotation(&object, "example.com/x"), Some("1"));
        assert_eq!(name(&object), "a");
    }
}
