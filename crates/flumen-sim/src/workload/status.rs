//! Parts of a status that all workloads have.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::object::{stamp, text};

/// A status that is filled in the way the server prints it: numbers that may be left out are, if zero.
#[derive(Debug, Default)]
pub(super) struct Status(Map<String, Value>);

impl Status {
    pub(super) fn always(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn unless_zero(mut self, name: &str, number: usize) -> Self {
        if number != 0 {
            self.0.insert(name.to_owned(), number.into());
        }
        self
    }

    /// What the old status has and controllers do not change.
    pub(super) fn kept(mut self, object: &Value, name: &str) -> Self {
        if let Some(value) = object.get("status").and_then(|status| status.get(name)) {
            self.0.insert(name.to_owned(), value.clone());
        }
        self
    }

    pub(super) fn unless_empty(mut self, name: &str, list: Vec<Value>) -> Self {
        if !list.is_empty() {
            self.0.insert(name.to_owned(), list.into());
        }
        self
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// A condition as someone wants it to be.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) type_name: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Wanted {
    pub(super) fn value(&self, now: Timestamp) -> Value {
        json!({
            "type": self.type_name,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": stamp(now),
        })
    }
}

pub(super) fn find<'a>(conditions: &'a [Value], type_name: &str) -> Option<&'a Value> {
    conditions.iter().find(|condition| text(condition, "/type") == type_name)
}

pub(super) fn remove(conditions: &mut Vec<Value>, type_name: &str) {
    conditions.retain(|condition| text(condition, "/type") != type_name);
}

/// Puts a condition at the end, unless one of the same status and reason is there.
pub(super) fn set(conditions: &mut Vec<Value>, mut condition: Value) {
    let type_name = text(&condition, "/type").to_owned();
    if let Some(known) = find(conditions, &type_name) {
        let is_same = |pointer: &str| text(known, pointer) == text(&condition, pointer);
        if is_same("/status") && is_same("/reason") {
            return;
        }
        if is_same("/status") {
            condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
        }
    }
    remove(conditions, &type_name);
    conditions.push(condition);
}
