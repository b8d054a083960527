//! Lists whose elements are told apart: by their value or by keys in them.

use std::collections::BTreeMap;

use flumen_fields::{FieldError, Path};
use serde_json::{Map, Value};

use crate::schema::Schema;

/// Elements that occur more than once, anywhere in an object.
pub(crate) fn check(object: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut errors = Vec::new();
    fields(object, schema, &Path::ROOT, &mut errors);
    errors
}

fn value(value: &Value, schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Value::Array(items) = value else { return fields(value, schema, at, errors) };
    match schema.list_type.as_deref() {
        Some("set") => {
            for index in repeated(items.iter()) {
                errors.push(FieldError::duplicate(&at.index(index), items[index].clone()));
            }
        }
        Some("map") => keyed(items, schema, at, errors),
        _ => {}
    }
    if let Some(item) = schema.item() {
        for (index, element) in items.iter().enumerate() {
            self::value(element, item, &at.index(index), errors);
        }
    }
}

fn fields(value: &Value, schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Value::Object(map) = value else { return };
    for (key, element) in map {
        match (schema.properties.get(key), schema.additional_schema()) {
            (Some(property), _) => self::value(element, property, &at.child(key), errors),
            (None, Some(additional)) => self::value(element, additional, &at.key(key), errors),
            (None, None) => {}
        }
    }
}

fn keyed(items: &[Value], schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let is_element = |item: &Value| item.is_object() || item.is_null();
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| !is_element(item)) {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(&at.index(index), item.clone(), detail));
        return;
    }
    let keys: Vec<Value> = items
        .iter()
        .map(|item| {
            let named = schema.list_map_keys.iter();
            let keys = named.filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
            Value::Object(keys.collect::<Map<_, _>>())
        })
        .collect();
    for index in repeated(keys.iter()) {
        errors.push(FieldError::duplicate(&at.index(index), keys[index].clone()));
    }
}

/// Where something is met the second time; further times are not counted.
fn repeated<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<usize> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, value) in values.enumerate() {
        let times = times.entry(value.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            found.push(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::schema::Schema;

    #[track_caller]
    fn problems(schema: &Value, object: &Value, expected: &[&str]) {
        let schema = Schema::read(schema).expect("a schema");
        let found: Vec<_> = check(object, &schema).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn repeated_elements_are_found() {
        let schema = json!({"type": "object", "properties": {
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {}},
            "one": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"], "items": {}},
            "two": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k", "p"], "items": {}},
        }});
        problems(
            &schema,
            &json!({"set": ["a", "b", "a", "a", 1], "one": [{"k": "x"}, {"k": "x", "v": 1}, {}, {}],
                    "two": [{"k": 1, "p": 2}, {"k": 1}, {"p": 2, "k": 1}]}),
            &[
                r#"one[1]: Duplicate value: {"k":"x"}"#,
                "one[3]: Duplicate value: {}",
                r#"set[2]: Duplicate value: "a""#,
                r#"two[2]: Duplicate value: {"k":1,"p":2}"#,
            ],
        );
        problems(
            &schema,
            &json!({"one": [1]}),
            &["one[0]: Invalid value: 1: must be an object for an array of list-type map"],
        );
    }
}
