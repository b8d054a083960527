//! Services.

use serde_json::{Value, json};

use super::pod::items;
use crate::read::Read as _;

pub(super) fn service(service: &mut Value) {
    let spec = service.part("spec");
    let is_balancer = spec.text("type") == "LoadBalancer";
    if is_balancer && let Some(balancer) = service.pointer_mut("/status/loadBalancer") {
        for ingress in items(balancer, "ingress") {
            if !ingress.text("ip").is_empty() && ingress.some("ipMode").is_none() {
                ingress["ipMode"] = "VIP".into();
            }
        }
    }
}

pub(super) fn spec(spec: &mut Value) {
    affinity(spec);
    for port in items(spec, "ports") {
        if matches!(&port["targetPort"], Value::Null) || is_unset(&port["targetPort"]) {
            port["targetPort"] = port["port"].clone();
        }
    }
    let kind = spec.text("type").to_owned();
    let is_reached_from_outside = matches!(kind.as_str(), "LoadBalancer" | "NodePort")
        || kind == "ClusterIP" && !spec.list("externalIPs").is_empty();
    if is_reached_from_outside && spec.text("externalTrafficPolicy").is_empty() {
        spec["externalTrafficPolicy"] = "Cluster".into();
    }
    let is_inside = matches!(kind.as_str(), "LoadBalancer" | "NodePort" | "ClusterIP");
    if is_inside && spec.some("internalTrafficPolicy").is_none() {
        spec["internalTrafficPolicy"] = "Cluster".into();
    }
    if kind == "LoadBalancer" && spec.some("allocateLoadBalancerNodePorts").is_none() {
        spec["allocateLoadBalancerNodePorts"] = true.into();
    }
}

fn is_unset(port: &Value) -> bool {
    port.as_i64() == Some(0) || port.as_str() == Some("")
}

fn affinity(spec: &mut Value) {
    let timeout = "/sessionAffinityConfig/clientIP/timeoutSeconds";
    match spec.text("sessionAffinity") {
        "None" => {
            if let Value::Object(spec) = spec {
                spec.remove("sessionAffinityConfig");
            }
        }
        "ClientIP" if spec.pointer(timeout).is_none_or(Value::is_null) => {
            spec["sessionAffinityConfig"] = json!({ "clientIP": { "timeoutSeconds": 10800 } });
        }
        _ => {}
    }
}
