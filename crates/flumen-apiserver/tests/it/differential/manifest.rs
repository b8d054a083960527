//! Bodies: manifests of a kind put together from its parts, and mistakes in them.

use flumen_testkit::Random;
use serde_json::{Map, Value, json};

use super::kinds::Kind;

/// By these fields the items of a list are told apart when parts are put together.
const KEYS: [&str; 5] = ["name", "type", "port", "containerPort", "ip"];

/// A manifest that is complete, and often valid.
pub(crate) fn whole(random: &mut Random, kind: &Kind, version: &str, name: &str) -> Value {
    let mut manifest = head(kind, version, name);
    add(&mut manifest, kind.base.clone());
    decorate(random, kind, &mut manifest);
    manifest
}

/// What a manager has an opinion on: often less than a whole manifest.
pub(crate) fn intent(random: &mut Random, kind: &Kind, version: &str, name: &str) -> Value {
    let mut manifest = head(kind, version, name);
    if !random.one_in(3) {
        add(&mut manifest, kind.base.clone());
    }
    decorate(random, kind, &mut manifest);
    manifest
}

/// The same of a status, with the kind and name where they are needed.
pub(crate) fn status(random: &mut Random, kind: &Kind) -> Value {
    let mut status = json!({});
    for _ in 0..=random.below(2) {
        add(&mut status, random.pick(&kind.statuses).clone());
    }
    json!({ "status": status })
}

/// Fields without a kind and a name, as patches have them.
pub(crate) fn fields(random: &mut Random, kind: &Kind) -> Value {
    let mut fields = json!({});
    decorate(random, kind, &mut fields);
    fields
}

pub(crate) fn head(kind: &Kind, version: &str, name: &str) -> Value {
    json!({ "apiVersion": version, "kind": kind.name, "metadata": { "name": kind.name_of(name) } })
}

fn decorate(random: &mut Random, kind: &Kind, manifest: &mut Value) {
    for _ in 0..random.below(4) {
        add(manifest, random.pick(&kind.parts).clone());
    }
    for _ in 0..random.below(3) {
        add(manifest, json!({ "metadata": metadata(random) }));
    }
    if random.one_in(12) {
        mistake(random, manifest);
    }
}

fn metadata(random: &mut Random) -> Value {
    let owner = |name: &str, controls: bool| {
        let uid = format!("11111111-1111-1111-1111-11111111111{}", name.len());
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": controls })
    };
    match random.below(13) {
        0 | 1 => json!({ "labels": { "tier": "a" } }),
        2 | 3 => json!({ "labels": { "tier": "b", "app": "x" } }),
        4 => json!({ "annotations": { "note": "one" } }),
        5 => json!({ "annotations": { "note": "two", "example.com/other": "" } }),
        6 => json!({ "finalizers": ["example.com/hold"] }),
        7 => json!({ "finalizers": ["example.com/other", "example.com/hold"] }),
        12 => json!({ "finalizers": ["example.com/gone"] }),
        8 => json!({ "ownerReferences": [owner("o", true)] }),
        9 => json!({ "ownerReferences": [owner("oo", false)] }),
        10 => json!({ "labels": { "tier": null } }),
        _ => json!({ "labels": {}, "annotations": null }),
    }
}

/// Puts a part into a manifest: mappings grow, lists grow by their keys, anything else is replaced.
pub(crate) fn add(manifest: &mut Value, part: Value) {
    match (manifest, part) {
        (Value::Object(map), Value::Object(part)) => {
            for (key, value) in part {
                match map.get_mut(&key) {
                    Some(old) => add(old, value),
                    None => drop(map.insert(key, value)),
                }
            }
        }
        (Value::Array(items), Value::Array(part)) => {
            for value in part {
                match items.iter_mut().find(|item| is_same(item, &value)) {
                    Some(old) => add(old, value),
                    None => items.push(value),
                }
            }
        }
        (manifest, part) => *manifest = part,
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    let key = KEYS.iter().find(|key| other.get(**key).is_some());
    key.is_some_and(|key| one.get(key) == other.get(key))
}

/// Damages one place.
pub(crate) fn mistake(random: &mut Random, manifest: &mut Value) {
    let places = places(manifest);
    let Some(place) = places.get(random.index(places.len())) else { return };
    if random.one_in(4) {
        let Some((parent, key)) = place.rsplit_once('/') else { return };
        match manifest.pointer_mut(parent) {
            Some(Value::Object(map)) if random.one_in(2) => drop(map.remove(key)),
            Some(Value::Object(map)) => drop(map.insert("strange".to_owned(), json!(["x"]))),
            Some(Value::Array(items)) => {
                let copy = items[random.index(items.len())].clone();
                items.push(copy);
            }
            _ => {}
        }
    } else if let Some(value) = manifest.pointer_mut(place) {
        *value = odd(random);
    }
}

/// A value that is seldom right.
pub(crate) fn odd(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(""),
        json!("x"),
        json!("-Not Valid-"),
        json!(0),
        json!(-1),
        json!(70_000),
        json!(1.5),
        json!(true),
        json!([]),
        json!({}),
        json!(["x"]),
        json!({ "x": "y" }),
    ];
    random.pick(&values).clone()
}

/// Pointers to everything below a value, except what says where an object is.
pub(crate) fn places(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(value, "", &mut all);
    // There is always something to choose.
    all.push("/metadata/annotations/note".to_owned());
    all.retain(|place| {
        !matches!(&**place, "/metadata" | "/metadata/name" | "/kind" | "/apiVersion")
            && !place.starts_with("/metadata/labels/run")
    });
    all
}

fn collect(value: &Value, at: &str, all: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let below: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (escaped(key), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    if !at.is_empty() {
        all.push(at.to_owned());
    }
    for (key, value) in below {
        collect(value, &format!("{at}/{key}"), all);
    }
}

/// An object of one field at a pointer, for patches.
pub(crate) fn nest(pointer: &str, value: Value) -> Value {
    pointer.rsplit('/').filter(|key| !key.is_empty()).fold(value, |value, key| {
        let key = key.replace("~1", "/").replace("~0", "~");
        Value::Object(Map::from_iter([(key, value)]))
    })
}
