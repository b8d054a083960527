//! JSON values as trees, for requests that are made of typed objects.

use flumen_yaml::{Entry, Map, Node, Pos, Tag, Value as Tree};
use serde_json::Value;

pub(crate) fn tree(value: &Value) -> Node {
    match value {
        Value::Null => Node::null(),
        Value::Bool(bool) => Node::scalar(bool.to_string(), Tag::Bool),
        Value::Number(number) if number.is_f64() => Node::scalar(number.to_string(), Tag::Float),
        Value::Number(number) => Node::scalar(number.to_string(), Tag::Int),
        Value::String(text) => Node::string(text.as_str()),
        Value::Array(items) => Node::seq(items.iter().map(tree).collect()),
        Value::Object(fields) => {
            let entries = fields.iter().map(|(key, value)| Entry::new(key.as_str(), tree(value)));
            Node::new(Pos::default(), Tree::Map(Map::from(entries.collect::<Vec<_>>())))
        }
    }
}

/// The merge patch that makes `after` of `before`; `None` when they are equal.
pub(crate) fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(after.clone());
    };
    let mut patch = serde_json::Map::new();
    for (key, value) in new {
        match old.get(key) {
            None => {
                patch.insert(key.clone(), value.clone());
            }
            Some(known) => {
                if let Some(change) = merge_patch(known, value) {
                    patch.insert(key.clone(), change);
                }
            }
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_holds_what_differs() {
        let check = |before: Value, after: Value, expected: Option<Value>| {
            assert_eq!(merge_patch(&before, &after), expected);
        };
        check(json!({"a": 1}), json!({"a": 1}), None);
        check(
            json!({"a": 1, "b": {"c": 1, "d": 2}, "e": 1}),
            json!({"a": 2, "b": {"c": 1, "d": 3}, "f": [1]}),
            Some(json!({"a": 2, "b": {"d": 3}, "e": null, "f": [1]})),
        );
        check(json!({"a": [1]}), json!({"a": [1, 2]}), Some(json!({"a": [1, 2]})));
    }

    #[test]
    fn trees_print_as_the_values_they_are_made_of() {
        let value = json!({"a": [1, -2, 1.5, true, null, "1"], "b": {}});
        let text = flumen_yaml::to_json(&tree(&value)).expect("JSON");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
