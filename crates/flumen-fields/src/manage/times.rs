//! Keeps the times of managed fields when a write changes nothing else.

use serde_json::{Map, Value};

use super::managed_fields;

/// Gives a new object the times of the live one if nothing but times of managed fields differs, so
/// that writing the same again is no change. To be called with objects as they would be stored.
pub fn keep_times(live: &Value, new: &mut Value) {
    let same = match (managed_fields(live), managed_fields(new)) {
        (Some(Value::Array(live)), Some(Value::Array(new))) => {
            live != new && same_entries(live, new)
        }
        _ => false,
    };
    if same && same_without_managed_fields(live, new) {
        let managed = managed_fields(live).cloned();
        super::set_managed_fields(new, managed);
    }
}

/// The live object with the managers of an applied one, if applying changed nothing else. `shown` is the live object in
/// the version in which it was applied: converted there and back again, it might not be the same.
pub fn unchanged(live: &Value, shown: &Value, applied: &Value) -> Option<Value> {
    if !same_without_managed_fields(shown, applied) {
        return None;
    }
    let mut unchanged = live.clone();
    super::set_managed_fields(&mut unchanged, managed_fields(applied).cloned());
    Some(unchanged)
}

fn same_entries(live: &[Value], new: &[Value]) -> bool {
    live.len() == new.len()
        && live.iter().zip(new).all(|pair| match pair {
            (Value::Object(a), Value::Object(b)) => same_except(a, b, "time"),
            _ => false,
        })
}

/// Whether two objects are equal but for managed fields.
pub(super) fn same_without_managed_fields(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return false };
    if !same_except(a, b, "metadata") {
        return false;
    }
    match (a.get("metadata"), b.get("metadata")) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => same_except(a, b, "managedFields"),
        (a, b) => a == b,
    }
}

fn same_except(a: &Map<String, Value>, b: &Map<String, Value>, name: &str) -> bool {
    let others = |map: &Map<String, Value>| map.len() - usize::from(map.contains_key(name));
    others(a) == others(b)
        && a.iter().all(|(key, value)| {
            key == name || b.get(key).is_some_and(|other| crate::order::equal(value, other))
        })
}
