//! Services: fields that only some types have go away when the type changes.

use serde_json::Value;

use super::{remove_in, set_in};
use crate::read::Read;

/// The type of services that stand for a name outside of the cluster.
pub(super) const OUTSIDE: &str = "ExternalName";

pub(super) fn create(service: &mut Value, _now: &str) {
    let spec = service.part("spec");
    let address = spec.text("clusterIP").to_owned();
    if !address.is_empty() && spec.list("clusterIPs").is_empty() {
        set_in(service, "spec", "clusterIPs", vec![Value::from(address)].into());
    }
}

/// Clients of old know one address only; the list follows it.
fn follow_address(new: &mut Value, old: &Value) {
    let (spec, was) = (new.part("spec"), old.part("spec"));
    let (now, then) = (spec.text("clusterIP").to_owned(), was.text("clusterIP"));
    let same_list = spec.list("clusterIPs") == was.list("clusterIPs");
    if now == then {
        if spec.list("clusterIPs").is_empty() && !was.list("clusterIPs").is_empty() {
            super::copy_in(new, old, "spec", "clusterIPs");
        }
    } else if same_list && now.is_empty() {
        remove_in(new, "spec", "clusterIPs");
    } else if !now.is_empty() && (same_list || spec.list("clusterIPs").is_empty()) {
        set_in(new, "spec", "clusterIPs", vec![Value::from(now)].into());
    }
}

pub(super) fn update(new: &mut Value, old: &Value) {
    follow_address(new, old);
    let (needs, needed) = (Needs::of(new), Needs::of(old));
    if needed.cluster_ip && !needs.cluster_ip {
        let same = |field: &str| new.part("spec").part(field) == old.part("spec").part(field);
        let addresses = same("clusterIP") && same("clusterIPs");
        let dropped = [
            ("clusterIP", addresses),
            ("clusterIPs", addresses),
            ("ipFamilies", same("ipFamilies")),
            ("ipFamilyPolicy", same("ipFamilyPolicy")),
        ];
        for (field, dropped) in dropped {
            if dropped {
                remove_in(new, "spec", field);
            }
        }
    }
    if needed.node_port
        && !needs.node_port
        && has_no_other_node_ports(new, old)
        && let Some(Value::Array(ports)) =
            new.get_mut("spec").and_then(|spec| spec.get_mut("ports"))
    {
        for port in ports {
            super::remove(port, "nodePort");
        }
    }
    let checks = [
        (needed.health_check && !needs.health_check, "healthCheckNodePort"),
        (needed.load_balancer && !needs.load_balancer, "allocateLoadBalancerNodePorts"),
        (needed.load_balancer && !needs.load_balancer, "loadBalancerClass"),
        (needed.external_traffic && !needs.external_traffic, "externalTrafficPolicy"),
    ];
    for (dropped, field) in checks {
        let same = new.part("spec").part(field) == old.part("spec").part(field);
        if dropped && same {
            remove_in(new, "spec", field);
        }
    }
    if !needs.load_balancer {
        set_in(new, "status", "loadBalancer", Value::Object(serde_json::Map::new()));
    }
    keep_allocated(new, old);
}

/// A name outside has no traffic inside. The policy is kept for the time when the type changes, and shown to
/// nobody.
pub(super) fn hide_policy(service: &mut Value) {
    if service.part("spec").text("type") == OUTSIDE {
        remove_in(service, "spec", "internalTrafficPolicy");
    }
}

/// What the server has allocated stays when it is not sent again.
fn keep_allocated(new: &mut Value, old: &Value) {
    let (needs, needed) = (Needs::of(new), Needs::of(old));
    if needs.cluster_ip && needed.cluster_ip {
        let spec = new.part("spec");
        if spec.text("clusterIP").is_empty() && spec.list("clusterIPs").is_empty() {
            for field in ["clusterIP", "clusterIPs"] {
                let value = old.part("spec").part(field).clone();
                if !value.is_null() {
                    set_in(new, "spec", field, value);
                }
            }
        }
    }
    if needs.node_port && needed.node_port {
        keep_node_ports(new, old);
    }
    if needs.health_check && needed.health_check {
        let was = old.part("spec").int("healthCheckNodePort");
        if new.part("spec").int("healthCheckNodePort") == 0 && was != 0 {
            set_in(new, "spec", "healthCheckNodePort", was.into());
        }
    }
}

fn keep_node_ports(new: &mut Value, old: &Value) {
    let numbers = |service: &Value| -> Vec<i64> { ports(service).map(|(_, node)| node).collect() };
    let (now, then) = (numbers(new), numbers(old));
    let known: Vec<(String, i64)> =
        ports(old).map(|(name, node)| (name.to_owned(), node)).collect();
    let Some(Value::Array(ports)) = new.get_mut("spec").and_then(|spec| spec.get_mut("ports"))
    else {
        return;
    };
    for port in ports.iter_mut().filter(|port| port.int("nodePort") == 0) {
        let was = known.iter().rfind(|(name, _)| name == port.text("name"));
        let free = |node: &i64| *node != 0 && !(now.contains(node) && then.contains(node));
        if let Some(node) = was.map(|(_, node)| *node).filter(free) {
            super::set(port, "nodePort", node.into());
        }
    }
}

/// The name and the port on nodes of each port.
fn ports(service: &Value) -> impl Iterator<Item = (&str, i64)> {
    let ports = service.part("spec").list("ports").iter();
    ports.map(|port| (port.text("name"), port.int("nodePort")))
}

/// Whether all ports on nodes were there before.
fn has_no_other_node_ports(new: &Value, old: &Value) -> bool {
    let known = |node: i64| node == 0 || ports(old).any(|(_, was)| was == node);
    ports(new).all(|(_, node)| known(node))
}

/// What a service of its type has.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct Needs {
    cluster_ip: bool,
    node_port: bool,
    health_check: bool,
    load_balancer: bool,
    external_traffic: bool,
}

impl Needs {
    fn of(service: &Value) -> Self {
        let spec = service.part("spec");
        let of = spec.text("type");
        let load_balancer = of == "LoadBalancer";
        let local = spec.text("externalTrafficPolicy") == "Local";
        Self {
            cluster_ip: of != OUTSIDE,
            node_port: matches!(of, "NodePort" | "LoadBalancer"),
            health_check: load_balancer && local,
            load_balancer,
            external_traffic: matches!(of, "NodePort" | "LoadBalancer")
                || (of == "ClusterIP" && !spec.list("externalIPs").is_empty()),
        }
    }
}
