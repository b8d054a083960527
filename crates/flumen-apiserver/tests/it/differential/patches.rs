//! Patches of all types, some of them wrong.

use flumen_testkit::Random;
use serde_json::{Value, json};

use super::{
    kinds::Kind,
    manifest::{add, fields, mistake, nest, odd, places, whole},
};

pub(crate) const JSON: &str = "application/json-patch+json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// The media type and the text of a patch.
pub(crate) fn patch(random: &mut Random, kind: &Kind) -> (&'static str, String) {
    if random.one_in(25) {
        let wrong =
            ["", "{", "[]", "{}", "null", "1", "\"x\"", "[1]", r#"[{"op":"nope"}]"#, "a: b"];
        let media = *random.pick(&[JSON, MERGE, STRATEGIC, "application/json", "text/plain"]);
        return (media, (*random.pick(&wrong)).to_owned());
    }
    match random.below(3) {
        0 => (JSON, json_patch(random, kind).to_string()),
        1 => (MERGE, merge_patch(random, kind).to_string()),
        _ => (STRATEGIC, strategic(random, kind).to_string()),
    }
}

fn json_patch(random: &mut Random, kind: &Kind) -> Value {
    let version = kind.versions[0];
    let object = whole(random, kind, version, "a");
    let places = places(&object);
    let operations = (0..=random.below(2)).map(|_| {
        let mut place = random.pick(&places).clone();
        if random.one_in(6) {
            place += *random.pick(&["/-", "/0", "/7", "/missing", "x"]);
        }
        let value = match object.pointer(&place) {
            Some(value) if !random.one_in(6) => value.clone(),
            _ => odd(random),
        };
        let other = random.pick(&places).clone();
        match random.below(9) {
            0..=2 => json!({ "op": "add", "path": place, "value": value }),
            3 | 4 => json!({ "op": "replace", "path": place, "value": value }),
            5 | 6 => json!({ "op": "remove", "path": place }),
            7 => json!({ "op": "test", "path": place, "value": value }),
            _ => {
                json!({ "op": *random.pick(&["copy", "move"]), "from": place, "path": other })
            }
        }
    });
    operations.collect()
}

fn merge_patch(random: &mut Random, kind: &Kind) -> Value {
    let mut patch = fields(random, kind);
    if random.one_in(3) {
        add(&mut patch, removal(random, kind));
    }
    if random.one_in(15) {
        let value = odd(random);
        add(&mut patch, json!({ "metadata": { "resourceVersion": value } }));
    }
    patch
}

/// One field set to nothing.
fn removal(random: &mut Random, kind: &Kind) -> Value {
    let object = whole(random, kind, kind.versions[0], "a");
    let places = places(&object);
    let place = random.pick(&places);
    // Lists have no place for one item in such a patch.
    let end = place.split('/').position(|key| key.parse::<usize>().is_ok());
    let place: Vec<&str> = place.split('/').take(end.unwrap_or(usize::MAX)).collect();
    nest(&place.join("/"), Value::Null)
}

fn strategic(random: &mut Random, kind: &Kind) -> Value {
    let mut patch = merge_patch(random, kind);
    if random.one_in(2) {
        return patch;
    }
    let objects: Vec<String> = places(&patch)
        .into_iter()
        .filter(|place| patch.pointer(place).is_some_and(Value::is_object))
        .collect();
    let Some(place) = objects.get(random.index(objects.len())) else { return patch };
    let Some(Value::Object(map)) = patch.pointer_mut(place) else { return patch };
    match random.below(6) {
        0 => drop(map.insert("$patch".to_owned(), "delete".into())),
        1 => drop(map.insert("$patch".to_owned(), "replace".into())),
        2 => drop(map.insert("$patch".to_owned(), "nope".into())),
        3 => drop(map.insert("$patch".to_owned(), odd(random))),
        4 => {
            let keys: Value = map.keys().cloned().collect();
            map.insert("$retainKeys".to_owned(), keys);
        }
        _ => mistake(random, &mut patch),
    }
    if random.one_in(3) {
        // With both, the real server takes them in the order of a hash map, so they must not meet.
        let others = ["example.com/hold", "example.com/other", "example.com/gone"];
        let sent = patch.pointer("/metadata/finalizers").cloned().unwrap_or_default();
        let is_sent =
            |name: &&str| sent.as_array().is_some_and(|all| all.iter().any(|of| of == name));
        let gone: Vec<&str> = others.into_iter().filter(|name| !is_sent(name)).collect();
        let deleted = json!({ "$deleteFromPrimitiveList/finalizers": gone });
        add(&mut patch, json!({ "metadata": deleted }));
    }
    patch
}
