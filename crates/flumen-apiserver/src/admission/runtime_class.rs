//! Pods take the overhead and the nodes of the class that runs them.

use serde_json::Value;

use super::{Attempt, Result};

pub(super) fn mutate(attempt: &Attempt<'_>, pod: &mut Value) -> Result {
    let Some(class) = class(attempt, pod)? else { return Ok(()) };
    let overhead = &class["overhead"]["podFixed"];
    if overhead.is_object() {
        if has_overhead(pod) && pod["spec"]["overhead"] != *overhead {
            return Err(other_overhead(attempt, pod));
        }
        pod["spec"]["overhead"] = overhead.clone();
    }
    let scheduling = &class["scheduling"];
    for (key, value) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let present = &pod["spec"]["nodeSelector"][key];
        if present.is_string() && present != value {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let why = format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(present)
            );
            return Err(attempt.forbid(pod, &why));
        }
        pod["spec"]["nodeSelector"][key] = value.clone();
    }
    let mut tolerations = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for toleration in scheduling["tolerations"].as_array().into_iter().flatten() {
        if !tolerations.contains(toleration) {
            tolerations.push(toleration.clone());
        }
    }
    if !tolerations.is_empty() {
        pod["spec"]["tolerations"] = tolerations.into();
    }
    Ok(())
}

pub(super) fn validate(attempt: &Attempt<'_>, pod: &Value) -> Result {
    if !attempt.creates("", "pods") {
        return Ok(());
    }
    let class = class(attempt, pod)?.unwrap_or_default();
    let overhead = &class["overhead"]["podFixed"];
    if overhead.is_object() && pod["spec"]["overhead"] != *overhead {
        return Err(other_overhead(attempt, pod));
    }
    if !class["overhead"].is_object() && has_overhead(pod) {
        let why =
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(attempt.forbid(pod, why));
    }
    Ok(())
}

/// The class of a new pod, if it names one.
fn class(attempt: &Attempt<'_>, pod: &Value) -> Result<Option<Value>> {
    let name = pod["spec"]["runtimeClassName"].as_str();
    let Some(name) = name.filter(|_| attempt.creates("", "pods")) else { return Ok(None) };
    let class = attempt.find("node.k8s.io", "runtimeclasses", "", name)?;
    let why = format!("pod rejected: RuntimeClass {name:?} not found");
    class.map(Some).ok_or_else(|| attempt.forbid(pod, &why))
}

fn has_overhead(pod: &Value) -> bool {
    pod["spec"]["overhead"].as_object().is_some_and(|overhead| !overhead.is_empty())
}

fn other_overhead(attempt: &Attempt<'_>, pod: &Value) -> crate::ApiError {
    let why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    attempt.forbid(pod, why)
}
