//! Removal of what a schema does not know.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::schema::{Additional, Schema};

/// Fields of any object, which no schema needs to name.
pub(crate) fn is_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

/// Removes from a resource all fields that the schema does not have, and says where they were, sorted.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    prune_as(object, schema, true)
}

/// The same for any value. At the root of a resource what every object has is left alone.
pub(crate) fn prune_as(value: &mut Value, schema: &Schema, is_resource: bool) -> Vec<String> {
    let mut pruner = Pruner { path: String::new(), unknown: Vec::new() };
    pruner.known(value, schema, is_resource || schema.embedded);
    pruner.unknown.sort();
    pruner.unknown
}

struct Pruner {
    path: String,
    unknown: Vec<String>,
}

impl Pruner {
    fn value(&mut self, value: &mut Value, schema: Option<&Schema>) {
        match schema {
            Some(schema) => self.known(value, schema, schema.embedded),
            None => self.unknown(value),
        }
    }

    fn known(&mut self, value: &mut Value, schema: &Schema, is_resource: bool) {
        if schema.preserves_unknown() {
            return self.preserved(value, schema, is_resource);
        }
        match value {
            Value::Object(map) => {
                let mut surplus = Vec::new();
                for (key, value) in map.iter_mut() {
                    if is_resource && is_meta(key) {
                        continue;
                    }
                    match Fact::of(schema, key) {
                        Fact::Schema(field) => {
                            self.within_key(key, |this| this.known(value, field, field.embedded));
                        }
                        Fact::Allowed => self.within_key(key, |this| this.unknown(value)),
                        Fact::Unknown => surplus.push(key.clone()),
                    }
                }
                for key in surplus {
                    map.remove(&key);
                    if !is_meta(&key) || !self.path.is_empty() {
                        self.record(&key);
                    }
                }
            }
            Value::Array(items) => {
                let item = schema.item();
                self.each(items, |this, value| this.value(value, item));
            }
            _ => {}
        }
    }

    /// A value of which nothing is known: objects in it keep no field.
    fn unknown(&mut self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in std::mem::take(map).keys() {
                    self.record(key);
                }
            }
            Value::Array(items) => self.each(items, Self::unknown),
            _ => {}
        }
    }

    /// Here nothing is removed, but what has a schema may have one that removes again.
    fn preserved(&mut self, value: &mut Value, schema: &Schema, is_resource: bool) {
        match value {
            Value::Object(map) => self.preserved_fields(map, schema, is_resource),
            Value::Array(items) => {
                if let Some(item) = schema.item() {
                    self.each(items, |this, value| this.preserved(value, item, item.embedded));
                }
            }
            _ => {}
        }
    }

    fn preserved_fields(
        &mut self,
        map: &mut Map<String, Value>,
        schema: &Schema,
        is_resource: bool,
    ) {
        for (key, value) in map.iter_mut() {
            if is_resource && is_meta(key) {
                continue;
            }
            match Fact::of(schema, key) {
                Fact::Schema(field) => {
                    self.within_key(key, |this| this.known(value, field, field.embedded));
                }
                Fact::Allowed => self.within_key(key, |this| this.unknown(value)),
                Fact::Unknown => {}
            }
        }
    }

    fn each(&mut self, items: &mut [Value], visit: impl Fn(&mut Self, &mut Value)) {
        let length = self.path.len();
        for (index, value) in items.iter_mut().enumerate() {
            if matches!(value, Value::Object(_) | Value::Array(_)) {
                let _ = write!(self.path, "[{index}]");
                visit(self, value);
                self.path.truncate(length);
            }
        }
    }

    fn within_key(&mut self, key: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.push(key);
        visit(self);
        self.path.truncate(length);
    }

    fn push(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }

    fn record(&mut self, key: &str) {
        let length = self.path.len();
        self.push(key);
        self.unknown.push(self.path.clone());
        self.path.truncate(length);
    }
}

/// What a schema says of a field.
enum Fact<'a> {
    Schema(&'a Schema),
    /// That it may be there, and no more.
    Allowed,
    Unknown,
}

impl<'a> Fact<'a> {
    fn of(schema: &'a Schema, key: &str) -> Self {
        match (schema.properties.get(key), &schema.additional) {
            (Some(property), _) => Self::Schema(property),
            (None, Some(Additional::Schema(additional))) => Self::Schema(additional),
            (None, Some(Additional::Any(_))) => Self::Allowed,
            (None, None) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::prune;
    use crate::schema::Schema;

    #[track_caller]
    fn check(schema: &Value, mut object: Value, expected: &Value, unknown: &[&str]) {
        let schema = Schema::read(schema).expect("a schema");
        assert_eq!(prune(&mut object, &schema), unknown);
        assert_eq!(object, *expected);
    }

    #[test]
    fn unknown_fields_go_and_are_named() {
        let item = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let schema = json!({"type": "object", "properties": {
            "l": {"type": "array", "items": item},
            "m": {"type": "object", "additionalProperties": item},
            "any": {"type": "object", "additionalProperties": true},
        }});
        check(
            &schema,
            json!({"kind": "K", "metadata": {"x": 1}, "l": [{"a": "1"}, {"b": 1}], "z": 1,
                   "m": {"k": {"a": "1", "b": 2}}, "any": {"k": {"gone": 1}, "s": "stays"}}),
            &json!({"kind": "K", "metadata": {"x": 1}, "l": [{"a": "1"}, {}],
                    "m": {"k": {"a": "1"}}, "any": {"k": {}, "s": "stays"}}),
            &["any.k.gone", "l[1].b", "m.k.b", "z"],
        );
    }

    #[test]
    fn unknown_fields_stay_where_the_schema_says_so() {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"a": {"type": "object", "properties": {}},
                           "e": {"type": "object", "x-kubernetes-embedded-resource": true}}});
        check(
            &schema,
            json!({"x": {"y": 1}, "a": {"gone": 1}, "e": {"metadata": {"name": "n"}, "spec": 1}}),
            &json!({"x": {"y": 1}, "a": {}, "e": {"metadata": {"name": "n"}}}),
            &["a.gone", "e.spec"],
        );
    }
}
