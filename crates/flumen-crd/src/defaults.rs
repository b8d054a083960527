//! Values that a schema fills in.

use serde_json::Value;

use crate::schema::Schema;

/// Fills in what is missing, and what is null where null is not allowed. Never below a missing parent.
pub(crate) fn apply(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                let wants = map.get(name).is_none_or(|it| it.is_null() && !property.nullable);
                if wants {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (key, value) in map.iter_mut() {
                match (schema.properties.get(key), schema.additional_schema()) {
                    (Some(property), _) => apply(value, property),
                    (None, Some(additional)) => apply_to_element(value, additional),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(item) = schema.item() {
                for value in items {
                    apply_to_element(value, item);
                }
            }
        }
        _ => {}
    }
}

fn apply_to_element(value: &mut Value, schema: &Schema) {
    if value.is_null()
        && !schema.nullable
        && let Some(default) = &schema.default
    {
        *value = default.clone();
    }
    apply(value, schema);
}

/// Removes nulls that are neither allowed nor replaced by a default.
pub(crate) fn remove_nulls(value: &mut Value, schema: Option<&Schema>) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let field = schema.and_then(|schema| schema.field(key));
            let goes =
                value.is_null() && field.is_some_and(|it| !it.nullable && it.default.is_none());
            if !goes {
                remove_nulls(value, field);
            }
            !goes
        }),
        Value::Array(items) => {
            let item = schema.and_then(Schema::item);
            for value in items {
                remove_nulls(value, item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{apply, remove_nulls};
    use crate::schema::Schema;

    #[track_caller]
    fn check(schema: &Value, mut object: Value, expected: &Value) {
        let schema = Schema::read(schema).expect("a schema");
        remove_nulls(&mut object, Some(&schema));
        apply(&mut object, &schema);
        assert_eq!(object, *expected);
    }

    #[test]
    fn what_is_missing_is_filled_in() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "n": {"type": "string", "default": "x", "nullable": true},
            "p": {"type": "object", "properties": {"q": {"type": "integer", "default": 1}}},
            "d": {"type": "object", "default": {}, "properties": {"e": {"default": true}}},
            "l": {"type": "array", "items": {"type": "object", "properties": {"f": {"default": 2}}}},
            "m": {"type": "object", "additionalProperties": {"type": "integer", "default": 3}},
            "plain": {"type": "string"},
        }});
        check(&schema, json!({}), &json!({"a": "x", "n": "x", "d": {"e": true}}));
        check(
            &schema,
            json!({"a": null, "n": null, "p": {}, "l": [{}, {"f": 0}], "m": {"k": null},
                   "plain": null}),
            &json!({"a": "x", "n": null, "p": {"q": 1}, "d": {"e": true}, "l": [{"f": 2}, {"f": 0}],
                    "m": {"k": 3}}),
        );
    }
}
