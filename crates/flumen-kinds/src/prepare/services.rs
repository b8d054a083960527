//! Services: fields that only some types have go away when the type changes.

use serde_json::Value;

use super::{remove_in, set_in};
use crate::read::Read;

pub(super) fn update(new: &mut Value, old: &Value) {
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
    if needed.node_port && !needs.node_port && same_node_ports(new, old) {
        if let Some(Value::Array(ports)) =
            new.get_mut("spec").and_then(|spec| spec.get_mut("ports"))
        {
            for port in ports {
                super::remove(port, "nodePort");
            }
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
    let known: Vec<(String, i64, i64)> = ports(old).collect();
    let mut used: Vec<(String, i64)> =
        ports(new).map(|(protocol, _, node)| (protocol, node)).collect();
    let Some(Value::Array(ports)) = new.get_mut("spec").and_then(|spec| spec.get_mut("ports"))
    else {
        return;
    };
    for port in ports {
        if port.int("nodePort") != 0 {
            continue;
        }
        let (protocol, number) = (port.text("protocol").to_owned(), port.int("port"));
        let was = known.iter().find(|(p, n, node)| *p == protocol && *n == number && *node != 0);
        if let Some((_, _, node)) = was {
            let taken = (protocol, *node);
            if !used.contains(&taken) {
                super::set(port, "nodePort", (*node).into());
                used.push(taken);
            }
        }
    }
}

fn ports(service: &Value) -> impl Iterator<Item = (String, i64, i64)> + '_ {
    let ports = service.part("spec").list("ports").iter();
    ports.map(|port| (port.text("protocol").to_owned(), port.int("port"), port.int("nodePort")))
}

fn same_node_ports(new: &Value, old: &Value) -> bool {
    let mut one: Vec<i64> = ports(new).map(|(_, _, node)| node).filter(|node| *node != 0).collect();
    let mut other: Vec<i64> =
        ports(old).map(|(_, _, node)| node).filter(|node| *node != 0).collect();
    one.sort_unstable();
    other.sort_unstable();
    one == other
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
        let node_port = of == "NodePort"
            || (load_balancer && spec.truth_given("allocateLoadBalancerNodePorts") != Some(false));
        let local = spec.text("externalTrafficPolicy") == "Local";
        Self {
            cluster_ip: matches!(of, "ClusterIP" | "NodePort" | "LoadBalancer"),
            node_port,
            health_check: load_balancer && local,
            load_balancer,
            external_traffic: matches!(of, "NodePort" | "LoadBalancer")
                || (of == "ClusterIP" && !spec.list("externalIPs").is_empty()),
        }
    }
}
