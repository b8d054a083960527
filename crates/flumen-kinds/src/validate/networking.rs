//! Ingresses, their classes, network policies, and what services are addressed by.

use flumen_fields::Path;
use serde_json::Value;

use super::address::{self, Range};
use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, selector, services};
use crate::internal;
use crate::read::Read;

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

pub(super) fn ingress(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    ingress_spec(e, object.part("spec"), None);
    let annotation = object.part("metadata").part("annotations").text_given(CLASS_ANNOTATION);
    let class = object.part("spec").text_given("ingressClassName");
    if let (Some(annotation), Some(class)) = (annotation, class)
        && annotation != class
    {
        let at = Path::new("annotations");
        let detail = "must match `ingressClassName` when both are specified";
        e.invalid(&at.child(CLASS_ANNOTATION), annotation, detail);
    }
}

pub(super) fn ingress_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    meta::check(e, new, Scope::Namespaced, Naming::SUBDOMAIN);
    ingress_spec(e, new.part("spec"), Some(old.part("spec")));
}

fn ingress_spec(e: &mut Report, spec: &Value, old: Option<&Value>) {
    let at = Path::new("spec");
    let (rules, backend) = (spec.list("rules"), spec.some("defaultBackend"));
    if rules.is_empty() && backend.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        e.invalid(&at, spec.part("rules").clone(), detail);
    }
    if let Some(backend) = backend {
        ingress_backend(e, &at.child("defaultBackend"), backend);
    }
    let rules_at = at.child("rules");
    for (n, rule) in rules.iter().enumerate() {
        ingress_rule(e, &rules_at.index(n), rule);
    }
    let secret_was_wrong = old.is_some_and(|old| {
        old.list("tls").iter().any(|tls| {
            let name = tls.text("secretName");
            !name.is_empty() && !format::dns_subdomain(name).is_empty()
        })
    });
    let tls_at = at.child("tls");
    for (n, tls) in spec.list("tls").iter().enumerate() {
        let at = tls_at.index(n);
        let hosts = at.child("hosts");
        for (n, host) in tls.texts("hosts").enumerate() {
            host_form(e, &hosts.index(n), host);
        }
        if !secret_was_wrong {
            let name = tls.text("secretName");
            e.form_if_filled(&at.child("secretName"), name, format::dns_subdomain);
        }
    }
    if let Some(class) = spec.text_given("ingressClassName") {
        e.form(&at.child("ingressClassName"), class, format::dns_subdomain);
    }
}

fn host_form(e: &mut Report, at: &Path<'_>, host: &str) {
    if host.contains('*') {
        e.form(at, host, format::dns_wildcard);
    } else {
        e.form(at, host, format::dns_subdomain);
    }
}

fn ingress_rule(e: &mut Report, at: &Path<'_>, rule: &Value) {
    let host = rule.text("host");
    if !host.is_empty() {
        if address::parse_ip(host).is_some() {
            e.invalid(&at.child("host"), host, "must be a DNS name, not an IP address");
        }
        host_form(e, &at.child("host"), host);
    }
    let Some(http) = rule.some("http") else { return };
    let at = at.child("http");
    let at = at.child("paths");
    if http.list("paths").is_empty() {
        e.required(&at, "");
    }
    for (n, path) in http.list("paths").iter().enumerate() {
        ingress_path(e, &at.index(n), path);
    }
}

fn ingress_path(e: &mut Report, at: &Path<'_>, path: &Value) {
    let Some(of) = path.text_given("pathType") else {
        return e.required(&at.child("pathType"), "pathType must be specified");
    };
    let text = path.text("path");
    let path_at = at.child("path");
    let absolute = "must be an absolute path";
    match of {
        "Exact" | "Prefix" => {
            if !text.starts_with('/') {
                e.invalid(&path_at, text, absolute);
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if text.contains(part) {
                    e.invalid(&path_at, text, format!("must not contain '{part}'"));
                }
            }
            for end in ["/..", "/."] {
                if text.ends_with(end) {
                    e.invalid(&path_at, text, format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() && !text.starts_with('/') {
                e.invalid(&path_at, text, absolute);
            }
        }
        other => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            e.not_supported(&at.child("pathType"), other, &known);
        }
    }
    ingress_backend(e, &at.child("backend"), path.part("backend"));
}

fn ingress_backend(e: &mut Report, at: &Path<'_>, backend: &Value) {
    match (backend.some("resource"), backend.some("service")) {
        (Some(_), Some(_)) => {
            e.invalid(at, "", "cannot set both resource and service backends");
        }
        (Some(resource), None) => local_reference(e, &at.child("resource"), resource),
        (None, Some(service)) => {
            let service_at = at.child("service");
            e.required_form(
                &service_at.child("name"),
                service.text("name"),
                format::dns_1035_label,
            );
            let port = service.part("port");
            let port_at = service_at.child("port");
            match (port.text("name"), port.int("number")) {
                ("", 0) => e.required(at, "port name or number is required"),
                ("", number) => e.port(&port_at.child("number"), number),
                (name, 0) => e.form(&port_at.child("name"), name, format::port_name),
                _ => e.invalid(at, "", "cannot set both port name & port number"),
            }
        }
        (None, None) => e.invalid(at, "", "resource or service backend is required"),
    }
}

fn local_reference(e: &mut Report, at: &Path<'_>, reference: &Value) {
    if let Some(group) = reference.text_given("apiGroup") {
        e.form(&at.child("apiGroup"), group, format::dns_subdomain);
    }
    for field in ["kind", "name"] {
        e.required_form(&at.child(field), reference.text(field), format::path_segment);
    }
}

pub(super) fn ingress_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("status");
    let at = at.child("loadBalancer");
    let at = at.child("ingress");
    let was = old.part("status").part("loadBalancer").list("ingress");
    let known: Vec<&str> = was.iter().map(|ingress| ingress.text("ip")).collect();
    let entries = new.part("status").part("loadBalancer").list("ingress");
    for (n, entry) in entries.iter().enumerate() {
        services::load_balancer_ingress(e, &at.index(n), entry, &known);
        services::host_name(e, &at.index(n), entry);
    }
}

pub(super) fn ingress_class(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    let controller = spec.text("controller");
    if controller.len() > 250 {
        e.too_long(&at.child("controller"), 250);
    }
    e.domain_path(&at.child("controller"), controller);
    let Some(parameters) = spec.some("parameters") else { return };
    let at = at.child("parameters");
    local_reference(e, &at, parameters);
    let namespace = parameters.text_given("namespace");
    match (parameters.text_given("scope"), namespace) {
        (None, _) => e.required(&at.child("scope"), ""),
        (Some("Namespace"), None) => {
            let detail = "`parameters.scope` is set to 'Namespace'";
            e.required(&at.child("namespace"), detail);
        }
        (Some("Namespace"), Some(namespace)) => {
            e.form(&at.child("namespace"), namespace, format::dns_label);
        }
        (Some("Cluster"), Some(_)) => {
            e.forbidden(&at.child("namespace"), "`parameters.scope` is set to 'Cluster'");
        }
        (Some("Cluster"), None) => {}
        (Some(other), _) => e.not_supported(&at.child("scope"), other, &["Cluster", "Namespace"]),
    }
}

pub(super) fn ingress_class_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("spec");
    let (now, then) = (new.part("spec").text("controller"), old.part("spec").text("controller"));
    e.immutable_text(&at.child("controller"), now, then);
    ingress_class(e, new);
}

pub(super) fn network_policy(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    network_policy_spec(e, object.part("spec"), &[]);
}

pub(super) fn network_policy_update(e: &mut Report, new: &Value, old: &Value) {
    let mut known = Vec::new();
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in old.part("spec").list(list) {
            for block in rule.list(peers).iter().filter_map(|peer| peer.some("ipBlock")) {
                known.push(block.text("cidr"));
                known.extend(block.texts("except"));
            }
        }
    }
    network_policy(e, new);
    meta::check_update(e, new, old);
    network_policy_spec(e, new.part("spec"), &known);
}

fn network_policy_spec(e: &mut Report, spec: &Value, known: &[&str]) {
    let at = Path::new("spec");
    selector::check(e, &at.child("podSelector"), spec.part("podSelector"));
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        let at = at.child(list);
        for (n, rule) in spec.list(list).iter().enumerate() {
            let at = at.index(n);
            let ports = at.child("ports");
            for (n, port) in rule.list("ports").iter().enumerate() {
                policy_port(e, &ports.index(n), port);
            }
            let at = at.child(peers);
            for (n, peer) in rule.list(peers).iter().enumerate() {
                policy_peer(e, &at.index(n), peer, known);
            }
        }
    }
    let types = spec.list("policyTypes");
    let at = at.child("policyTypes");
    if types.len() > 2 {
        let shown = spec.part("policyTypes").clone();
        return e.invalid(&at, shown, "may not specify more than two policyTypes");
    }
    for (n, of) in spec.texts("policyTypes").enumerate() {
        e.one_of(&at.index(n), of, &["Ingress", "Egress"]);
    }
}

fn policy_port(e: &mut Report, at: &Path<'_>, port: &Value) {
    let protocol = port.text_given("protocol");
    e.one_of_if_given(&at.child("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    let end = port.int_given("endPort");
    let end_at = at.child("endPort");
    let Some(start) = port.some("port") else {
        if let Some(end) = end {
            e.invalid(&end_at, end, "may not be specified when `port` is not specified");
        }
        return;
    };
    match (start.as_i64(), end) {
        (Some(start), end) => {
            e.port(&at.child("port"), start);
            if let Some(end) = end {
                if end < start {
                    e.invalid(&end_at, start, "must be greater than or equal to `port`");
                }
                e.port(&end_at, end);
            }
        }
        (None, end) => {
            if let Some(end) = end {
                e.invalid(&end_at, end, "may not be specified when `port` is non-numeric");
            }
            e.port_or_name(&at.child("port"), start);
        }
    }
}

fn policy_peer(e: &mut Report, at: &Path<'_>, peer: &Value, known: &[&str]) {
    let mut count = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if let Some(labels) = peer.some(field) {
            count += 1;
            selector::check(e, &at.child(field), labels);
        }
    }
    let block = peer.some("ipBlock");
    if let Some(block) = block {
        count += 1;
        ip_block(e, &at.child("ipBlock"), block, known);
    }
    if count == 0 {
        e.required(at, "must specify a peer");
    } else if count > 1 && block.is_some() {
        e.forbidden(at, "may not specify both ipBlock and another peer");
    }
}

fn ip_block(e: &mut Report, at: &Path<'_>, block: &Value, known: &[&str]) {
    let cidr = block.text("cidr");
    if cidr.is_empty() {
        return e.required(&at.child("cidr"), "");
    }
    e.cidr(&at.child("cidr"), cidr, known);
    let Some(range) = Range::parse(cidr) else { return };
    let at = at.child("except");
    for (n, except) in block.texts("except").enumerate() {
        e.cidr(&at.index(n), except, known);
        let Some(inner) = Range::parse(except) else { continue };
        if !range.contains(inner.masked().address) || range.bits >= inner.bits {
            e.invalid(&at.index(n), except, "must be a strict subset of `cidr`");
        }
    }
}

/// Addresses are named after themselves.
fn address_name(name: &str) -> Vec<String> {
    let mut e = Report::default();
    e.strict_ip(&Path::ROOT, name);
    e.into_errors().into_iter().map(|error| error.detail).collect()
}

pub(super) fn ip_address(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::new(address_name, address_name));
    let at = Path::new("spec");
    let at = at.child("parentRef");
    let Some(parent) = object.part("spec").some("parentRef") else { return e.required(&at, "") };
    e.form_if_filled(&at.child("group"), parent.text("group"), format::dns_subdomain);
    for field in ["resource", "name"] {
        e.required_form(&at.child(field), parent.text(field), format::path_segment);
    }
    e.form_if_filled(&at.child("namespace"), parent.text("namespace"), format::path_segment);
}

pub(super) fn ip_address_update(e: &mut Report, new: &Value, old: &Value) {
    ip_address(e, new);
    meta::check_update(e, new, old);
    let (now, then) = (new.part("spec").some("parentRef"), old.part("spec").some("parentRef"));
    if now != then {
        let at = Path::new("spec");
        let shown = internal::shown_pointer("networking.ParentReference", now);
        e.invalid(&at.child("parentRef"), shown, IMMUTABLE);
    }
}

pub(super) fn service_cidr(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    cidrs(e, object.part("spec"));
}

fn cidrs(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    let at = at.child("cidrs");
    let list: Vec<&str> = spec.texts("cidrs").collect();
    match list.as_slice() {
        [] => e.required(&at, "at least one CIDR required"),
        [_, _, _, ..] => {
            let shown = internal::shown("networking.ServiceCIDRSpec", spec);
            e.invalid(&at, shown, "may only hold up to 2 values");
        }
        few => {
            for (n, cidr) in few.iter().enumerate() {
                e.strict_cidr(&at.index(n), cidr);
            }
            let families: Vec<bool> = few
                .iter()
                .filter_map(|cidr| Range::parse(cidr).map(|range| range.address.is_ipv4()))
                .collect();
            if let [one, other] = families.as_slice()
                && one == other
            {
                let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
                e.invalid(&at, spec.part("cidrs").clone(), detail);
            }
        }
    }
}

pub(super) fn service_cidr_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("spec");
    let at = at.child("cidrs");
    let list = |object: &Value| -> Vec<String> {
        object.part("spec").texts("cidrs").map(str::to_owned).collect()
    };
    let (now, then) = (list(new), list(old));
    let grows = then.len() == 1 && now.len() == 2;
    if now.len() != then.len() && !grows {
        return e.invalid(&at, new.part("spec").part("cidrs").clone(), IMMUTABLE);
    }
    for (n, (now, then)) in now.iter().zip(&then).enumerate() {
        if now != then {
            e.invalid(&at.index(n), now.as_str(), IMMUTABLE);
        }
    }
    if grows {
        cidrs(e, new.part("spec"));
    }
}
