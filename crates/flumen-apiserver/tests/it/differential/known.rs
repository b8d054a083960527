//! Differences that are there on purpose, each with its reason. They are counted, not passed over.

use serde_json::Value;

/// Why a place may differ; none if it may not.
pub(crate) fn reason(place: &str, real: &Value, embedded: &Value) -> Option<&'static str> {
    if place.ends_with("/spec/internalTrafficPolicy") && embedded == "<absent>" {
        return Some("of a Service for an outside name, only the status shows what else is hidden");
    }
    let (Some(real), Some(embedded)) = (real.as_str(), embedded.as_str()) else { return None };
    if real.replace("{}", "null") == embedded.replace("{}", "null") {
        return Some("messages show an empty map as none, because it is stored as none");
    }
    let undeclared = ": field not declared in schema";
    if real.ends_with(undeclared) && embedded.ends_with(undeclared) {
        return Some("of several unknown fields, a hash map decides which is named");
    }
    None
}
