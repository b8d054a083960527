//! Merge patches, RFC 7386.

use serde_json::Value;

/// Merges a patch into a document. Nulls remove, also within what is new, but not within lists that
/// replace others.
pub(crate) fn merge(document: &mut Value, patch: Value) {
    match (document, patch) {
        (Value::Object(document), Value::Object(patch)) => {
            for (key, mut value) in patch {
                if value.is_null() {
                    document.remove(&key);
                    continue;
                }
                match document.get_mut(&key) {
                    Some(present) if !present.is_null() => merge(present, value),
                    _ => {
                        prune(&mut value);
                        document.insert(key, value);
                    }
                }
            }
        }
        (document @ Value::Object(_), patch) => *document = patch,
        (document, mut patch) => {
            prune(&mut patch);
            *document = patch;
        }
    }
}

/// Takes the nulls out of maps.
fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune);
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::merge;

    #[track_caller]
    fn check(mut document: Value, patch: Value, expected: &Value) {
        merge(&mut document, patch);
        assert_eq!(document, *expected);
    }

    #[test]
    fn values_are_set_and_removed() {
        check(
            json!({"a": 1, "b": {"c": 2}}),
            json!({"a": null, "b": {"d": 3}}),
            &json!({"b": {"c": 2, "d": 3}}),
        );
        check(json!({}), json!({"a": {"b": null, "c": [{"d": null}]}}), &json!({"a": {"c": [{}]}}));
        check(json!({"a": [1]}), json!({"a": [{"b": null}]}), &json!({"a": [{}]}));
        check(json!({"a": {"x": 1}}), json!({"a": [{"b": null}]}), &json!({"a": [{"b": null}]}));
    }
}
