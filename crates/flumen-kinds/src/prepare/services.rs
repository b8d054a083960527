//! Services: fields that only some types have go away when the type changes.

use serde_json::Value;

use super::{remove_in, set_in};
use crate::read::Read;

/// The type of services that stand for a name outside of the cluster.
pub(super) const OUTSIDE: &str = "ExternalName";

pub(super) fn create(service: &mut Value, _now: &str) {
    list_address(service);
}

/// Clients of old know one address only, which then is all of the list.
fn list_address(service: &mut Value) {
    if service.part("spec").list("clusterIPs").is_empty() {
        let addresses = addresses(service);
        if !addresses.is_empty() {
            set_in(service, "spec", "clusterIPs", addresses.into());
        }
    }
}

fn addresses(service: &Value) -> Vec<Value> {
    let spec = service.part("spec");
    match (spec.list("clusterIPs"), spec.text("clusterIP")) {
        ([], "") => Vec::new(),
        ([], address) => vec![Value::from(address)],
        (list, _) => list.to_vec(),
    }
}

/// A list that is as it was follows the address; one that is not is left to validation.
fn follow_address(new: &mut Value, old: &Value) {
    let (spec, known) = (new.part("spec"), addresses(old));
    let (now, then) = (spec.text("clusterIP"), old.part("spec").text("clusterIP"));
    let list = spec.list("clusterIPs");
    if now == then && list.is_empty() && !known.is_empty() {
        set_in(new, "spec", "clusterIPs", known.into());
    } else if now != then && list == known {
        if now.is_empty() {
            remove_in(new, "spec", "clusterIPs");
        } else {
            let address = Value::from(now);
            set_in(new, "spec", "clusterIPs", vec![address].into());
        }
    }
}

pub(super) fn update(new: &mut Value, old: &Value) {
    keep_allocated(new, old);
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
}

/// A name outside has no traffic inside. The policy is kept for the time when the type changes, and shown to
/// nobody. It is the only type whose address may be stored without the list.
pub(super) fn present(service: &mut Value) {
    if service.part("spec").text("type") == OUTSIDE {
        remove_in(service, "spec", "internalTrafficPolicy");
        list_address(service);
    }
}

/// What the server has allocated stays when it is not sent again.
fn keep_allocated(new: &mut Value, old: &Value) {
    let (needs, needed) = (Needs::of(new), Needs::of(old));
    if needs.cluster_ip && needed.cluster_ip {
        let spec = new.part("spec");
        let (lacks_address, lacks_list) =
            (spec.text("clusterIP").is_empty(), spec.list("clusterIPs").is_empty());
        for (lacks, field) in [(lacks_address, "clusterIP"), (lacks_list, "clusterIPs")] {
            let value = old.part("spec").part(field);
            if lacks && !value.is_null() {
                set_in(new, "spec", field, value.clone());
            }
        }
    }
    if gets_node_ports(new) && gets_node_ports(old) {
        keep_node_ports(new, old);
    }
    if needs.health_check && needed.health_check {
        let was = old.part("spec").int("healthCheckNodePort");
        if new.part("spec").int("healthCheckNodePort") == 0 && was != 0 {
            set_in(new, "spec", "healthCheckNodePort", was.into());
        }
    }
}

/// Load balancers can do without.
fn gets_node_ports(service: &Value) -> bool {
    let is_refused =
        service.part("spec").part("allocateLoadBalancerNodePorts") == &Value::Bool(false);
    let needs = Needs::of(service);
    needs.node_port && !(needs.load_balancer && is_refused)
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
