//! Pods: their class of service, gates, and what their subresources may change.

use std::collections::BTreeMap;

use flumen_object::Quantity;
use serde_json::{Value, json};

use super::{copy, count, set, set_in};
use crate::read::{Read, is_positive, quantity};

pub(super) fn create(pod: &mut Value, now: &str) {
    set(pod, "status", json!({"phase": "Pending", "qosClass": quality_of_service(pod)}));
    if !pod.part("spec").list("schedulingGates").is_empty() {
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": now,
        });
        set_in(pod, "status", "conditions", json!([condition]));
    }
    merge_label_keys(pod);
}

/// Keys of labels that are to match turn into requirements of the selector.
fn merge_label_keys(pod: &mut Value) {
    let labels = pod.part("metadata").part("labels").clone();
    let Some(spec) = pod.get_mut("spec") else { return };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.get_mut("affinity").and_then(|all| all.get_mut(kind)) else {
            continue;
        };
        let required = affinity.get_mut("requiredDuringSchedulingIgnoredDuringExecution");
        for term in required.and_then(Value::as_array_mut).into_iter().flatten() {
            merge_term(term, &labels);
        }
        let preferred = affinity.get_mut("preferredDuringSchedulingIgnoredDuringExecution");
        for weighted in preferred.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(term) = weighted.get_mut("podAffinityTerm") {
                merge_term(term, &labels);
            }
        }
    }
    let spread = spec.get_mut("topologySpreadConstraints").and_then(Value::as_array_mut);
    for constraint in spread.into_iter().flatten() {
        merge_keys(constraint, &labels, "matchLabelKeys", "In");
    }
}

fn merge_term(term: &mut Value, labels: &Value) {
    merge_keys(term, labels, "matchLabelKeys", "In");
    merge_keys(term, labels, "mismatchLabelKeys", "NotIn");
}

fn merge_keys(term: &mut Value, labels: &Value, field: &str, operator: &str) {
    if term.some("labelSelector").is_none() {
        return;
    }
    let keys: Vec<String> = term.texts(field).map(str::to_owned).collect();
    let Some(selector) = term.get_mut("labelSelector") else { return };
    let mut expressions = selector.list("matchExpressions").to_vec();
    for key in keys {
        if let Some(value) = labels.text_given(&key) {
            expressions.push(json!({"key": key, "operator": operator, "values": [value]}));
        }
    }
    if !expressions.is_empty() {
        set(selector, "matchExpressions", expressions.into());
    }
}

pub(super) fn prepare_subresource(subresource: &str, new: &mut Value, old: &Value) {
    match subresource {
        "status" => {
            if new.part("status").text("qosClass").is_empty() {
                super::copy_in(new, old, "status", "qosClass");
            }
            let generation = "observedGeneration";
            if new.part("status").int(generation) == 0 && old.part("status").int(generation) != 0 {
                super::copy_in(new, old, "status", generation);
            }
        }
        "ephemeralcontainers" => {
            let containers = new.part("spec").get("ephemeralContainers").cloned();
            replace_all_but_meta(new, old);
            match containers {
                Some(containers) => set_in(new, "spec", "ephemeralContainers", containers),
                None => super::remove_in(new, "spec", "ephemeralContainers"),
            }
        }
        "resize" => {
            let sent = new.part("spec").clone();
            replace_all_but_meta(new, old);
            if let Some(spec) = new.get_mut("spec") {
                take_resources(spec, &sent);
            }
        }
        _ => return,
    }
    if new.part("spec") != old.part("spec") {
        count(new, old);
    }
}

/// Of what is sent, only one part of the spec counts; of metadata the version and the managers.
fn replace_all_but_meta(new: &mut Value, old: &Value) {
    let kept = ["resourceVersion", "managedFields"];
    let meta: Vec<(&str, Option<Value>)> =
        kept.iter().map(|field| (*field, new.part("metadata").get(*field).cloned())).collect();
    for field in ["metadata", "spec", "status"] {
        copy(new, old, field);
    }
    for (field, value) in meta {
        match value {
            Some(value) => super::set_meta(new, field, value),
            None => super::remove_in(new, "metadata", field),
        }
    }
}

fn take_resources(spec: &mut Value, sent: &Value) {
    for list in ["containers", "initContainers"] {
        let sent = sent.list(list);
        let Some(Value::Array(containers)) = spec.get_mut(list) else { continue };
        if containers.len() != sent.len() {
            *containers = sent.to_vec();
            continue;
        }
        for (container, sent) in containers.iter_mut().zip(sent) {
            if container.text("name") != sent.text("name") {
                *container = sent.clone();
                continue;
            }
            for field in ["resources", "resizePolicy"] {
                copy(container, sent, field);
            }
        }
    }
    copy(spec, sent, "resources");
}

/// Guaranteed if every container has limits of CPU and memory and requests that equal them, best
/// effort if none has either, burstable otherwise.
pub(crate) fn quality_of_service(pod: &Value) -> &'static str {
    let spec = pod.part("spec");
    let mut requests = BTreeMap::new();
    let mut limits = BTreeMap::new();
    let mut guaranteed = true;
    let own = spec.part("resources");
    let pod_level = !own.map("requests").is_empty() || !own.map("limits").is_empty();
    if pod_level {
        guaranteed &= add(own, &mut requests, &mut limits);
    } else {
        for list in ["containers", "initContainers"] {
            for container in spec.list(list) {
                guaranteed &= add(container.part("resources"), &mut requests, &mut limits);
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    if guaranteed && requests == limits { "Guaranteed" } else { "Burstable" }
}

/// Adds up resources; answers whether there are limits for all that counts.
fn add<'a>(
    resources: &'a Value,
    requests: &mut BTreeMap<&'a str, Quantity>,
    limits: &mut BTreeMap<&'a str, Quantity>,
) -> bool {
    let mut limited = 0;
    for (field, sums) in [("requests", requests), ("limits", limits)] {
        for (name, value) in resources.map(field) {
            let amount = quantity(value);
            if !matches!(name.as_str(), "cpu" | "memory") || !is_positive(&amount) {
                continue;
            }
            limited += usize::from(field == "limits");
            let sum = sums.entry(name.as_str()).or_insert_with(|| Quantity::from(0));
            *sum = sum.plus(&amount);
        }
    }
    limited == 2
}
