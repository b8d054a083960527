//! Services.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::{Value, json};

use super::address;
use super::containers::PROTOCOLS;
use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, service_addresses};
use crate::internal;
use crate::read::Read;

const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const LOAD_BALANCER_ONLY: &str = "may only be used when `type` is 'LoadBalancer'";

pub(super) fn service(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::LABEL_1035);
    check(e, object, None);
}

pub(super) fn service_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    service_addresses::changed(e, new, old);
    service_addresses::changed_families(e, new, old);
    load_balancer_class(e, new, Some(old));
    if needs_health_check(new) && needs_health_check(old) {
        let field = "healthCheckNodePort";
        if new.part("spec").int(field) != old.part("spec").int(field) {
            let at = Path::new("spec");
            e.forbidden(&at.child(field), IMMUTABLE);
        }
    }
    check(e, new, Some(old));
}

pub(super) fn service_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("status");
    let at = at.child("loadBalancer");
    let at = at.child("ingress");
    let list =
        |object: &'_ Value| object.part("status").part("loadBalancer").list("ingress").to_vec();
    let (now, then) = (list(new), list(old));
    if new.part("spec").text("type") != "LoadBalancer" && !now.is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        return e.forbidden(&at, detail);
    }
    let known: Vec<&str> = then.iter().map(|ingress| ingress.text("ip")).collect();
    for (n, ingress) in now.iter().enumerate() {
        load_balancer_ingress(e, &at.index(n), ingress, &known);
        let mode = ingress.text_given("ipMode");
        let mode_at = at.index(n);
        let mode_at = mode_at.child("ipMode");
        match (mode, ingress.text("ip").is_empty()) {
            (None, false) => e.required(&mode_at, "must be specified when `ip` is set"),
            (Some(_), true) => {
                e.forbidden(&mode_at, "may not be specified when `ip` is not set");
            }
            (Some(mode), false) => e.one_of(&mode_at, mode, &["Proxy", "VIP"]),
            (None, true) => {}
        }
        host_name(e, &at.index(n), ingress);
    }
}

/// An address at which traffic enters.
pub(super) fn load_balancer_ingress(
    e: &mut Report,
    at: &Path<'_>,
    ingress: &Value,
    known: &[&str],
) {
    let ip = ingress.text("ip");
    if !ip.is_empty() {
        e.ip(&at.child("ip"), ip, known);
    }
}

pub(super) fn host_name(e: &mut Report, at: &Path<'_>, ingress: &Value) {
    let name = ingress.text("hostname");
    if name.is_empty() {
        return;
    }
    e.form(&at.child("hostname"), name, format::dns_subdomain);
    if address::parse_ip(name).is_some() {
        e.invalid(&at.child("hostname"), name, "must be a DNS name, not an IP address");
    }
}

pub(super) fn is_headless(service: &Value) -> bool {
    let addresses = service.part("spec").list("clusterIPs");
    addresses.len() == 1 && addresses[0] == "None"
}

fn is_external(service: &Value) -> bool {
    let spec = service.part("spec");
    match spec.text("type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.list("externalIPs").is_empty(),
        _ => false,
    }
}

fn needs_health_check(service: &Value) -> bool {
    let spec = service.part("spec");
    spec.text("type") == "LoadBalancer" && spec.text("externalTrafficPolicy") == "Local"
}

pub(super) fn texts(list: &[Value]) -> Vec<&str> {
    list.iter().map(|value| value.as_str().unwrap_or_default()).collect()
}

fn check(e: &mut Report, service: &Value, old: Option<&Value>) {
    let annotations = service.part("metadata").part("annotations");
    if let (Some(mode), Some(hints)) =
        (annotations.text_given(TOPOLOGY_MODE), annotations.text_given(TOPOLOGY_HINTS))
        && mode != hints
    {
        let at = Path::new("metadata");
        let at = at.child("annotations");
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        e.invalid(&at.key(TOPOLOGY_MODE), mode, detail);
    }
    let at = Path::new("spec");
    let spec = service.part("spec");
    let (ports, of) = (spec.list("ports"), spec.text("type"));
    let headless = is_headless(service);
    let ports_at = at.child("ports");
    if ports.is_empty() && !headless && of != "ExternalName" {
        e.required(&ports_at, "");
    }
    of_type(e, &at, spec, headless);
    let mut names = BTreeSet::new();
    for (n, port) in ports.iter().enumerate() {
        service_port(e, &ports_at.index(n), port, ports.len() > 1, &mut names);
    }
    meta::labels(e, &at.child("selector"), spec, "selector");
    session_affinity(e, &at, spec);
    service_addresses::check(e, service, old);
    let known = old.map(|old| texts(old.part("spec").list("externalIPs"))).unwrap_or_default();
    let external_at = at.child("externalIPs");
    for (n, address) in spec.texts("externalIPs").enumerate() {
        if e.ip(&external_at.index(n), address, &known) {
            e.endpoint_ip(&external_at.index(n), address);
        }
    }
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    e.choice(&at.child("type"), of, &types);
    node_ports(e, &ports_at, ports, of);
    let mut seen = BTreeSet::new();
    for (n, port) in ports.iter().enumerate() {
        let (protocol, number) = (port.text("protocol"), port.int("port"));
        if !seen.insert((protocol, number)) {
            let key = json!({"protocol": protocol, "port": number});
            e.duplicate(&ports_at.index(n), internal::shown("core.ServicePort", &key));
        }
    }
    source_ranges(e, service, old);
    let allocates = spec.some("allocateLoadBalancerNodePorts");
    if allocates.is_some() && of != "LoadBalancer" {
        e.forbidden(&at.child("allocateLoadBalancerNodePorts"), LOAD_BALANCER_ONLY);
    }
    if allocates.is_none() && of == "LoadBalancer" {
        e.required(&Path::new("allocateLoadBalancerNodePorts"), "");
    }
    load_balancer_class(e, service, None);
    traffic_policies(e, &at, service);
}

fn of_type(e: &mut Report, at: &Path<'_>, spec: &Value, headless: bool) {
    let of = spec.text("type");
    if matches!(of, "LoadBalancer" | "NodePort") && headless {
        let at = at.child("clusterIPs");
        let detail = format!("may not be set to 'None' for {of} services");
        e.invalid(&at.index(0), "None", detail);
    }
    if of != "ExternalName" {
        return;
    }
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if spec.some(field).is_some() {
            e.forbidden(&at.child(field), "may not be set for ExternalName services");
        }
    }
    let name = spec.text("externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    e.required_form(&at.child("externalName"), name, format::dns_subdomain);
}

fn service_port<'a>(
    e: &mut Report,
    at: &Path<'_>,
    port: &'a Value,
    needs_name: bool,
    names: &mut BTreeSet<&'a str>,
) {
    let name = port.text("name");
    if needs_name && name.is_empty() {
        e.required(&at.child("name"), "");
    } else if !name.is_empty() {
        e.form(&at.child("name"), name, format::dns_label);
        if !names.insert(name) {
            e.duplicate(&at.child("name"), name);
        }
    }
    e.port(&at.child("port"), port.int("port"));
    e.choice(&at.child("protocol"), port.text("protocol"), &PROTOCOLS);
    e.port_or_name(&at.child("targetPort"), port.part("targetPort"));
    if let Some(protocol) = port.text_given("appProtocol") {
        e.form(&at.child("appProtocol"), protocol, format::qualified_name);
    }
}

fn node_ports(e: &mut Report, at: &Path<'_>, ports: &[Value], of: &str) {
    if of == "ClusterIP" {
        for (n, _) in ports.iter().enumerate().filter(|(_, port)| port.int("nodePort") != 0) {
            let detail = "may not be used when `type` is 'ClusterIP'";
            e.forbidden(&at.index(n).child("nodePort"), detail);
        }
    }
    let mut seen = BTreeSet::new();
    for (n, port) in ports.iter().enumerate() {
        let number = port.int("nodePort");
        if number != 0 && !seen.insert((port.text("protocol"), number)) {
            e.duplicate(&at.index(n).child("nodePort"), number);
        }
    }
}

fn session_affinity(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let affinity = spec.text("sessionAffinity");
    e.choice(&at.child("sessionAffinity"), affinity, &["ClientIP", "None"]);
    let config = spec.some("sessionAffinityConfig");
    let at = at.child("sessionAffinityConfig");
    match (affinity, config) {
        ("ClientIP", config) => {
            let needed = "when session affinity type is ClientIP";
            let Some(config) = config else { return e.required(&at, needed) };
            let at = at.child("clientIP");
            let Some(client) = config.some("clientIP") else { return e.required(&at, needed) };
            let at = at.child("timeoutSeconds");
            let Some(timeout) = client.int_given("timeoutSeconds") else {
                return e.required(&at, needed);
            };
            if !(1..=86400).contains(&timeout) {
                e.invalid(&at, timeout, "must be greater than 0 and less than 86400");
            }
        }
        ("None", Some(_)) => {
            e.forbidden(&at, "must not be set when session affinity is None");
        }
        _ => {}
    }
}

fn source_ranges(e: &mut Report, service: &Value, old: Option<&Value>) {
    let spec = service.part("spec");
    let balanced = spec.text("type") == "LoadBalancer";
    let field = "loadBalancerSourceRanges";
    let annotation = |object: &'_ Value| {
        let annotations = object.part("metadata").part("annotations");
        annotations.text_given(SOURCE_RANGES).map(str::to_owned)
    };
    if !spec.list(field).is_empty() {
        let at = Path::new("spec");
        let at = at.child("LoadBalancerSourceRanges");
        if !balanced {
            e.forbidden(&at, LOAD_BALANCER_ONLY);
        }
        let known: Vec<&str> = old
            .map(|old| old.part("spec").texts(field).map(str::trim).collect())
            .unwrap_or_default();
        for (n, range) in spec.texts(field).enumerate() {
            e.cidr(&at.index(n), range.trim(), &known);
        }
    } else if let Some(ranges) = annotation(service) {
        let at = Path::new("metadata");
        let at = at.child("annotations");
        let at = at.key(SOURCE_RANGES);
        if !balanced {
            e.forbidden(&at, LOAD_BALANCER_ONLY);
        }
        let changed = old.is_none_or(|old| annotation(old).as_deref() != Some(ranges.as_str()));
        if changed && !ranges.trim().is_empty() {
            for range in ranges.trim().split(',') {
                e.cidr(&at, range.trim(), &[]);
            }
        }
    }
}

fn load_balancer_class(e: &mut Report, service: &Value, old: Option<&Value>) {
    let spec = service.part("spec");
    let class = spec.text_given("loadBalancerClass");
    let at = Path::new("spec");
    let at = at.child("loadBalancerClass");
    let balanced = spec.text("type") == "LoadBalancer";
    if let Some(was) = old.map(|old| old.part("spec")) {
        let both = balanced && was.text("type") == "LoadBalancer";
        if both && was.text_given("loadBalancerClass") != class {
            let shown = spec.part("loadBalancerClass").clone();
            e.invalid(&at, shown, "may not change once set");
        }
    }
    match class {
        Some(class) if balanced => e.form(&at, class, format::qualified_name),
        Some(_) => e.forbidden(&at, LOAD_BALANCER_ONLY),
        None => {}
    }
}

fn traffic_policies(e: &mut Report, at: &Path<'_>, service: &Value) {
    let spec = service.part("spec");
    let policy = spec.text("externalTrafficPolicy");
    let policy_at = at.child("externalTrafficPolicy");
    if is_external(service) {
        e.choice(&policy_at, policy, &["Cluster", "Local"]);
    } else if !policy.is_empty() {
        e.invalid(&policy_at, policy, "may only be set for externally-accessible services");
    }
    let port = spec.int("healthCheckNodePort");
    let port_at = at.child("healthCheckNodePort");
    match (needs_health_check(service), port) {
        // The server allocates one that is missing before it gets here.
        (true | false, 0) => {}
        (true, port) => e.port(&port_at, port),
        (false, port) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            e.invalid(&port_at, port, detail);
        }
    }
    let internal_at = at.child("internalTrafficPolicy");
    match spec.text_given("internalTrafficPolicy") {
        None if matches!(spec.text("type"), "NodePort" | "LoadBalancer" | "ClusterIP") => {
            e.required(&internal_at, "");
        }
        policy => e.one_of_if_given(&internal_at, policy, &["Cluster", "Local"]),
    }
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    let distribution = spec.text_given("trafficDistribution");
    e.one_of_if_given(&at.child("trafficDistribution"), distribution, &known);
}
