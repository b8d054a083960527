//! Pods stay for a while on nodes that are not ready or not reachable.

use serde_json::{Value, json};

use super::{Attempt, Operation, Result};

const CONDITIONS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS: i64 = 300;

#[expect(clippy::unnecessary_wraps, reason = "plugins have one signature")]
pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if attempt.operation == Operation::Delete || !attempt.is_about("", "pods") {
        return Ok(());
    }
    let present = object["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    let tolerates = |condition: &str| {
        present.iter().any(|toleration| {
            let text = |field: &str| toleration[field].as_str().unwrap_or_default();
            matches!(text("key"), key if key == condition || key.is_empty())
                && matches!(text("effect"), "NoExecute" | "")
        })
    };
    let missing = CONDITIONS.iter().filter(|condition| !tolerates(condition));
    let added: Vec<Value> = missing
        .map(|condition| {
            json!({
                "key": condition,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": SECONDS,
            })
        })
        .collect();
    if !added.is_empty() {
        object["spec"]["tolerations"] = present.into_iter().chain(added).collect();
    }
    Ok(())
}
