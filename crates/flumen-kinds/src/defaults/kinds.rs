//! Which type has which rule, and the rules of types that stand alone.

use serde_json::{Map, Value, json};

use super::{pod, service, workload};
use crate::{convert::drop_annotations, decode::encode_bytes, read::Read as _};

type Rule = fn(&mut Value);

pub(super) const RULES: &[(&str, Rule)] = &[
    ("api.apps.v1.DaemonSet", workload::daemon_set),
    ("api.apps.v1.DaemonSetUpdateStrategy", workload::daemon_set_strategy),
    ("api.apps.v1.DeploymentStrategy", workload::deployment_strategy),
    ("api.apps.v1.StatefulSetSpec", workload::stateful_set_spec),
    ("api.apps.v1.StatefulSetUpdateStrategy", workload::stateful_set_strategy),
    ("api.autoscaling.v2.HorizontalPodAutoscaler", drop_annotations),
    ("api.autoscaling.v2.HorizontalPodAutoscalerBehavior", behavior),
    ("api.batch.v1.Job", workload::job),
    ("api.core.v1.Container", pod::container),
    ("api.core.v1.EphemeralContainer", pod::container),
    ("api.core.v1.LimitRangeItem", limit_range_item),
    ("api.core.v1.Namespace", namespace),
    ("api.core.v1.NodeSpec", node_spec),
    ("api.core.v1.NodeStatus", node_status),
    ("api.core.v1.Pod", pod::pod),
    ("api.core.v1.PodSpec", pod::pod_spec),
    ("api.core.v1.PodTemplateSpec", pod::drop_init_container_annotations),
    ("api.core.v1.ReplicationController", workload::replication_controller),
    ("api.core.v1.Secret", secret),
    ("api.core.v1.Service", service::service),
    ("api.core.v1.ServiceSpec", service::spec),
    ("api.core.v1.Volume", pod::volume),
    ("api.networking.v1.NetworkPolicySpec", network_policy),
    ("api.rbac.v1.Subject", subject),
    ("api.resource.v1.DeviceSubRequest", device_request),
    ("api.resource.v1.ExactDeviceRequest", device_request),
    ("apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion", conversion),
    ("apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", definition),
    (
        "apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec",
        definition_spec,
    ),
];

fn namespace(namespace: &mut Value) {
    let name = namespace.part("metadata").text("name").to_owned();
    if !name.is_empty() {
        namespace["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.into();
    }
}

/// Strings are another way to write data.
fn secret(secret: &mut Value) {
    let Value::Object(members) = secret else { return };
    let Some(Value::Object(strings)) = members.remove("stringData") else { return };
    let data = members.entry("data").or_insert_with(|| Value::Object(Map::new()));
    for (key, value) in strings {
        data[key] = encode_bytes(value.as_str().unwrap_or_default().as_bytes()).into();
    }
}

fn limit_range_item(item: &mut Value) {
    if item.text("type") != "Container" {
        return;
    }
    copy_missing(item, "max", "default");
    copy_missing(item, "default", "defaultRequest");
    copy_missing(item, "min", "defaultRequest");
}

fn node_status(status: &mut Value) {
    if status.some("allocatable").is_none() {
        copy_missing(status, "capacity", "allocatable");
    }
}

/// Adds to one map what another has.
fn copy_missing(object: &mut Value, from: &str, to: &str) {
    for (key, value) in object.map(from).clone() {
        if !object.map(to).contains_key(&key) {
            object[to][key] = value;
        }
    }
}

/// The range alone is the first of all ranges.
fn node_spec(spec: &mut Value) {
    let range = spec.text("podCIDR").to_owned();
    let first = spec.texts("podCIDRs").next().map(str::to_owned);
    match first {
        Some(first) if range.is_empty() => spec["podCIDR"] = first.into(),
        Some(first) if first != range => spec["podCIDRs"] = json!([range]),
        None if !range.is_empty() => spec["podCIDRs"] = json!([range]),
        _ => {}
    }
}

fn behavior(behavior: &mut Value) {
    scaling_rules(
        behavior,
        "scaleUp",
        json!({
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                { "type": "Pods", "value": 4, "periodSeconds": 15 },
                { "type": "Percent", "value": 100, "periodSeconds": 15 },
            ],
        }),
    );
    scaling_rules(
        behavior,
        "scaleDown",
        json!({
            "selectPolicy": "Max",
            "policies": [{ "type": "Percent", "value": 100, "periodSeconds": 15 }],
        }),
    );
}

fn scaling_rules(behavior: &mut Value, name: &str, mut rules: Value) {
    for (field, value) in behavior.map(name) {
        if !value.is_null() {
            rules[field] = value.clone();
        }
    }
    behavior[name] = rules;
}

fn network_policy(spec: &mut Value) {
    if spec.list("policyTypes").is_empty() {
        let has_egress = !spec.list("egress").is_empty();
        spec["policyTypes"] =
            if has_egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
    }
}

fn subject(subject: &mut Value) {
    if subject.text("apiGroup").is_empty() && matches!(subject.text("kind"), "User" | "Group") {
        subject["apiGroup"] = "rbac.authorization.k8s.io".into();
    }
}

fn device_request(request: &mut Value) {
    if request.text("allocationMode") == "ExactCount" && request.int("count") == 0 {
        request["count"] = 1.into();
    }
}

/// The server keeps what a webhook has, but not the webhook: one that has nothing is none.
fn conversion(conversion: &mut Value) {
    let Value::Object(members) = conversion else { return };
    let is_nothing = members.get("webhook").is_some_and(|webhook| {
        webhook["clientConfig"].is_null() && webhook["conversionReviewVersions"].is_null()
    });
    if is_nothing {
        members.remove("webhook");
    }
}

fn definition(definition: &mut Value) {
    if !definition.part("status").list("storedVersions").is_empty() {
        return;
    }
    let versions = definition.part("spec").list("versions");
    let stored = versions.iter().find(|version| version.truth("storage"));
    if let Some(stored) = stored.map(|version| version.text("name").to_owned()) {
        definition["status"]["storedVersions"] = json!([stored]);
    }
}

fn definition_spec(spec: &mut Value) {
    let names = &mut spec["names"];
    let kind = names.text("kind").to_owned();
    if names.text("singular").is_empty() && !kind.is_empty() {
        names["singular"] = kind.to_lowercase().into();
    }
    if names.text("listKind").is_empty() && !kind.is_empty() {
        names["listKind"] = format!("{kind}List").into();
    }
}
