//! Differences that are there on purpose, each with its reason. They are counted, not passed over.

use serde_json::Value;

/// Why a place may differ; none if it may not.
pub(crate) fn reason(real: &Value, embedded: &Value) -> Option<&'static str> {
    let (Some(real), Some(embedded)) = (real.as_str(), embedded.as_str()) else { return None };
    if real.replace("Invalid value: {}", "Invalid value: null") == *embedded {
        return Some("messages show an empty map as none, because it is stored as none");
    }
    None
}
