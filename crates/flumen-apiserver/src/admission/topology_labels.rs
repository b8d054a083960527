//! Pods that come with a node have the labels that say where it is.

use serde_json::{Value, json};

use super::{Attempt, Result};

const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

pub(super) fn mutate(attempt: &Attempt<'_>, pod: &mut Value) -> Result {
    let binds = &*attempt.request.target().subresource == "binding";
    if !attempt.creates("", "pods") && !binds {
        return Ok(());
    }
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    if node.is_empty() {
        return Ok(());
    }
    let Some(node) = attempt.find("", "nodes", "", node)? else { return Ok(()) };
    let labels = &node["metadata"]["labels"];
    for label in LABELS.into_iter().filter(|label| labels[label].is_string()) {
        if !pod["metadata"]["labels"].is_object() {
            pod["metadata"]["labels"] = json!({});
        }
        pod["metadata"]["labels"][label] = labels[label].clone();
    }
    Ok(())
}
