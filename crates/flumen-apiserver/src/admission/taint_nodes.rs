//! New nodes are not ready until someone says that they are.

use serde_json::{Value, json};

use super::{Attempt, Result};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

#[expect(clippy::unnecessary_wraps, reason = "plugins have one signature")]
pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if !attempt.creates("", "nodes") {
        return Ok(());
    }
    let taints = &mut object["spec"]["taints"];
    if !taints.is_array() {
        *taints = json!([]);
    }
    if let Value::Array(taints) = taints {
        let is_there = |taint: &Value| taint["key"] == NOT_READY && taint["effect"] == "NoSchedule";
        if !taints.iter().any(is_there) {
            taints.push(json!({ "key": NOT_READY, "effect": "NoSchedule" }));
        }
    }
    Ok(())
}
