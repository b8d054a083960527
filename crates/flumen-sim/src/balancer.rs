//! Addresses from outside: those of load balancers and of ingresses. Nothing listens there.

use serde_json::{Value, json};

use crate::{
    engine::Context,
    hash,
    kind::Kind,
    node,
    object::{self, items, text},
    plan::{Plan, Writer},
};

const SOURCE: &str = "service-controller";

/// Gives a service of type `LoadBalancer` an address, and takes it from others.
pub(crate) fn service(_: Context<'_>, service: &Value) -> Plan {
    let mut plan = Plan::none();
    let wants = text(service, "/spec/type") == "LoadBalancer" && !object::is_ending(service);
    let has = !items(service, "/status/loadBalancer/ingress").is_empty();
    if wants == has {
        return plan;
    }
    let mut status = service.get("status").cloned().unwrap_or_else(|| json!({}));
    if wants {
        plan.tell(service, SOURCE, "EnsuringLoadBalancer", "Ensuring load balancer".to_owned());
        let ip = match text(service, "/spec/loadBalancerIP") {
            "" => address(object::uid(service)),
            ip => ip.to_owned(),
        };
        status["loadBalancer"] = json!({"ingress": [{"ip": ip, "ipMode": "VIP"}]});
    } else {
        status["loadBalancer"] = json!({});
    }
    plan.status(Writer::Manager, Kind::Service, service, status);
    if wants {
        plan.tell(service, SOURCE, "EnsuredLoadBalancer", "Ensured load balancer".to_owned());
    }
    plan
}

/// Gives an ingress the address of the node.
pub(crate) fn ingress(_: Context<'_>, ingress: &Value) -> Plan {
    let mut plan = Plan::none();
    if items(ingress, "/status/loadBalancer/ingress").is_empty() && !object::is_ending(ingress) {
        let status = json!({"loadBalancer": {"ingress": [{"ip": node::ADDRESS}]}});
        plan.status(Writer::Manager, Kind::Ingress, ingress, status);
    }
    plan
}

/// Of the block for benchmarks, which is routed nowhere.
fn address(uid: &str) -> String {
    let [_, a, b, c] = hash::fnv(uid.as_bytes()).to_be_bytes();
    format!("198.{}.{b}.{c}", 18 + (a & 1))
}
