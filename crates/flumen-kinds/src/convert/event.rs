//! Events of the core group and of `events.k8s.io`: the same fields under other names.

use serde_json::Value;

/// Names in the core group and in the other.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

pub(super) fn to_core(event: Value) -> Value {
    NAMES.iter().fold(event, |event, (core, other)| renamed(event, other, core))
}

pub(super) fn from_core(event: Value) -> Value {
    NAMES.iter().fold(event, |event, (core, other)| renamed(event, core, other))
}

fn renamed(mut event: Value, from: &str, to: &str) -> Value {
    if let Value::Object(members) = &mut event
        && let Some(value) = members.remove(from)
    {
        members.insert(to.to_owned(), value);
    }
    event
}
