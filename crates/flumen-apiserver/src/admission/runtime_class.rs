//! Pods take the overhead and the nodes of the class that runs them.

use serde_json::Value;

use super::{Attempt, Result};

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if !attempt.creates("", "pods") {
        return Ok(());
    }
    let spec = &object["spec"];
    let has_overhead = spec["overhead"].as_object().is_some_and(|overhead| !overhead.is_empty());
    let Some(name) = spec["runtimeClassName"].as_str().filter(|name| !name.is_empty()) else {
        if has_overhead {
            let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
            return Err(attempt.forbid(object, why));
        }
        return Ok(());
    };
    let class = attempt.find("node.k8s.io", "runtimeclasses", "", name)?;
    let why = format!("pod rejected: RuntimeClass {name:?} not found");
    let class = class.ok_or_else(|| attempt.forbid(object, &why))?;
    let overhead = &class["overhead"]["podFixed"];
    if overhead.is_object() {
        if has_overhead && spec["overhead"] != *overhead {
            let why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
            return Err(attempt.forbid(object, why));
        }
        object["spec"]["overhead"] = overhead.clone();
    }
    let scheduling = &class["scheduling"];
    for (key, value) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let present = &object["spec"]["nodeSelector"][key];
        if present.is_string() && present != value {
            let why = format!(
                "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                value.as_str().unwrap_or_default(),
                present.as_str().unwrap_or_default()
            );
            return Err(attempt.forbid(object, &why));
        }
        object["spec"]["nodeSelector"][key] = value.clone();
    }
    let mut tolerations = object["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
    for toleration in scheduling["tolerations"].as_array().into_iter().flatten() {
        if !tolerations.contains(toleration) {
            tolerations.push(toleration.clone());
        }
    }
    if !tolerations.is_empty() {
        object["spec"]["tolerations"] = tolerations.into();
    }
    Ok(())
}
