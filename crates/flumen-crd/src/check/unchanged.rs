//! What a value was before an update.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::Schema;

/// The former value of a part of an object, where there is one that goes with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    old: Option<&'a Value>,
    is_root: bool,
}

impl<'a> Before<'a> {
    /// Nothing was there, or nothing that could be compared.
    pub(crate) const NONE: Self = Self { old: None, is_root: false };

    pub(crate) const fn object(old: &'a Value) -> Self {
        Self { old: Some(old), is_root: true }
    }

    /// A part of an object that is validated by itself.
    pub(crate) const fn part(old: Option<&'a Value>) -> Self {
        Self { old, is_root: false }
    }

    /// Whether nothing about the value changed, which excuses its problems.
    pub(crate) fn is_unchanged(self, value: &Value, schema: &Schema) -> bool {
        self.old.is_some_and(|old| unchanged(old, value, schema))
    }

    pub(crate) const fn is_known(self) -> bool {
        self.old.is_some()
    }

    pub(crate) fn field(self, key: &str, schema: &Schema) -> Self {
        // Versions are converted before they are compared, so that these never show a change.
        if self.is_root && matches!(key, "apiVersion" | "kind") || schema.field(key).is_none() {
            return Self::NONE;
        }
        Self::part(self.old.and_then(|old| old.get(key)))
    }

    pub(crate) fn items(self, schema: &'a Schema) -> BeforeItems<'a> {
        BeforeItems { by_keys: find_by_keys(self.old, schema), keys: &schema.list_map_keys }
    }
}

/// Former elements of a list, which go with others by their keys.
pub(crate) struct BeforeItems<'a> {
    by_keys: BTreeMap<String, &'a Value>,
    keys: &'a [String],
}

impl<'a> BeforeItems<'a> {
    pub(crate) fn find(&self, item: &Value) -> Before<'a> {
        Before::part(self.find_value(item))
    }

    pub(crate) fn find_value(&self, item: &Value) -> Option<&'a Value> {
        if self.by_keys.is_empty() {
            return None;
        }
        self.by_keys.get(&key_of(item, self.keys)?).copied()
    }
}

/// The elements of a list by their keys; none if the schema does not tell elements apart by keys.
pub(crate) fn find_by_keys<'a>(
    list: Option<&'a Value>,
    schema: &Schema,
) -> BTreeMap<String, &'a Value> {
    let mut found = BTreeMap::new();
    if !has_keys(schema) {
        return found;
    }
    for item in list.and_then(Value::as_array).into_iter().flatten() {
        if let Some(key) = key_of(item, &schema.list_map_keys) {
            found.entry(key).or_insert(item);
        }
    }
    found
}

/// Whether the schema tells elements of a list apart by keys.
fn has_keys(schema: &Schema) -> bool {
    schema.kind == "array"
        && schema.list_type.as_deref() == Some("map")
        && !schema.list_map_keys.is_empty()
}

/// The keys of an element in one text; `None` where one is missing or not a scalar.
pub(crate) fn key_of(item: &Value, keys: &[String]) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        match item.get(key)? {
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            scalar => {
                text.push_str(&scalar.to_string());
                text.push('\0');
            }
        }
    }
    Some(text)
}

/// Equality as far as the schema can follow both values.
fn unchanged(old: &Value, new: &Value, schema: &Schema) -> bool {
    match (old, new) {
        (Value::Array(before), Value::Array(after)) => {
            if before.len() != after.len() {
                return false;
            }
            let Some(item) = schema.item().filter(|_| has_keys(schema)) else {
                return before == after;
            };
            // An element without a key goes with no other.
            let by_keys = find_by_keys(Some(old), schema);
            let keys = &schema.list_map_keys;
            after.iter().all(|new| {
                let old = key_of(new, keys).and_then(|key| by_keys.get(&key).copied());
                old.is_some_and(|old| unchanged(old, new, item))
            })
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && after.iter().all(|(key, new)| match (before.get(key), schema.field(key)) {
                    (Some(old), Some(field)) => unchanged(old, new, field),
                    _ => false,
                })
        }
        (old, new) => old == new,
    }
}
