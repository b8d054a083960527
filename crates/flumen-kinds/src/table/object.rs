//! An object as cells read it: every path may be absent.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::duration;

/// An object, or a part of one, at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'a> {
    value: &'a Value,
    pub(super) now: Timestamp,
}

impl<'a> Object<'a> {
    pub(super) fn new(value: &'a Value, now: Timestamp) -> Self {
        Self { value, now }
    }

    /// What is at a path of names with dots between them.
    pub(super) fn at(self, path: &str) -> Option<&'a Value> {
        let found = path.split('.').try_fold(self.value, |value, name| value.get(name))?;
        (!found.is_null()).then_some(found)
    }

    /// The object at a path.
    pub(super) fn part(self, path: &str) -> Option<Self> {
        self.at(path).map(|value| Self { value, now: self.now })
    }

    pub(super) fn has(self, path: &str) -> bool {
        self.at(path).is_some()
    }

    pub(super) fn text(self, path: &str) -> &'a str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(self, path: &str) -> i64 {
        self.at(path).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn flag(self, path: &str) -> bool {
        self.at(path).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A quantity; zero if there is none.
    pub(super) fn quantity(self, path: &str) -> String {
        match self.at(path) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "0".to_owned(),
        }
    }

    pub(super) fn time(self, path: &str) -> Option<Timestamp> {
        self.text(path).parse().ok()
    }

    /// How long ago the time at a path was.
    pub(super) fn age(self, path: &str) -> String {
        duration::age(self.time(path), self.now)
    }

    pub(super) fn map(self, path: &str) -> Option<&'a Map<String, Value>> {
        self.at(path).and_then(Value::as_object)
    }

    /// The items of a list.
    pub(super) fn items(self, path: &str) -> impl DoubleEndedIterator<Item = Self> {
        let items = self.at(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().map(move |value| Self { value, now: self.now })
    }

    pub(super) fn count(self, path: &str) -> usize {
        self.at(path).map_or(0, |value| match value {
            Value::Array(items) => items.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        })
    }

    /// The strings of a list, with a comma between them.
    pub(super) fn joined(self, path: &str) -> String {
        self.items(path)
            .map(|item| item.value.as_str().unwrap_or_default())
            .collect::<Vec<_>>()
            .join(",")
    }

    /// An annotation; its name may have dots.
    pub(super) fn annotation(self, name: &str) -> Option<&'a str> {
        self.map("metadata.annotations")?.get(name)?.as_str()
    }

    /// The first condition of a type.
    pub(super) fn condition(self, path: &str, type_name: &str) -> Option<Self> {
        self.items(path).find(|condition| condition.text("type") == type_name)
    }

    pub(super) fn as_str(self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }
}
