//! Endpoint slices.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::address::is_v6;
use super::containers::PROTOCOLS;
use super::format;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use crate::read::Read;

const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const MAX_TOPOLOGY: usize = 16;
const MAX_HINTS: usize = 8;

pub(super) fn slice(e: &mut Report, object: &Value) {
    checked(e, object, None);
}

pub(super) fn slice_update(e: &mut Report, new: &Value, old: &Value) {
    checked(e, new, Some(old));
    let field = "addressType";
    e.immutable_text(&Path::new(field), new.text(field), old.text(field));
}

fn checked(e: &mut Report, object: &Value, old: Option<&Value>) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let of = object.text("addressType");
    e.choice(&Path::new("addressType"), of, &["FQDN", "IPv4", "IPv6"]);
    ports(e, object.list("ports"));
    if old.is_none_or(|old| old.list("endpoints") != object.list("endpoints")) {
        endpoints(e, object.list("endpoints"), of);
    }
}

fn too_many(e: &mut Report, at: &Path<'_>, count: usize, limit: usize) -> bool {
    if count > limit {
        e.push(FieldError::too_many(at, count, limit));
    }
    count > limit
}

fn endpoints(e: &mut Report, endpoints: &[Value], of: &str) {
    let at = Path::new("endpoints");
    if too_many(e, &at, endpoints.len(), MAX_ENDPOINTS) {
        return;
    }
    for (n, endpoint) in endpoints.iter().enumerate() {
        let at = at.index(n);
        let addresses = at.child("addresses");
        let count = endpoint.list("addresses").len();
        if count == 0 {
            e.required(&addresses, "must contain at least 1 address");
        }
        too_many(e, &addresses, count, MAX_ADDRESSES);
        for (n, address) in endpoint.texts("addresses").enumerate() {
            self::address(e, &addresses, n, address, of);
        }
        if let Some(node) = endpoint.text_given("nodeName") {
            e.form(&at.child("nodeName"), node, format::dns_subdomain);
        }
        let topology = at.child("deprecatedTopology");
        too_many(e, &topology, endpoint.map("deprecatedTopology").len(), MAX_TOPOLOGY);
        meta::labels(e, &topology, endpoint, "deprecatedTopology");
        if let Some(name) = endpoint.text_given("hostname") {
            e.form(&at.child("hostname"), name, format::dns_label);
        }
        if let Some(hints) = endpoint.some("hints") {
            let forms = [
                ("forZones", format::label_value as format::Format),
                ("forNodes", format::dns_subdomain),
            ];
            let hints_at = at.child("hints");
            for (field, form) in forms {
                let at = hints_at.child(field);
                let list = hints.list(field);
                if too_many(e, &at, list.len(), MAX_HINTS) {
                    break;
                }
                let mut seen = BTreeSet::new();
                for (n, hint) in list.iter().enumerate() {
                    let at = at.index(n);
                    let name = hint.text("name");
                    if !seen.insert(name) {
                        e.duplicate(&at.child("name"), name);
                    }
                    e.form(&at.child("name"), name, form);
                }
            }
        }
    }
}

fn address(e: &mut Report, list: &Path<'_>, n: usize, address: &str, of: &str) {
    let at = list.index(n);
    match of {
        "IPv4" if e.ip(&at, address, &[]) => {
            if is_v6(address) {
                e.invalid(list, address, "must be an IPv4 address");
            }
            e.endpoint_ip(&at, address);
        }
        "IPv6" if e.strict_ip(&at, address).is_some() => {
            if !is_v6(address) {
                e.invalid(list, address, "must be an IPv6 address");
            }
            e.endpoint_ip(&at, address);
        }
        "FQDN" => domain(e, &at, address),
        _ => {}
    }
}

/// A domain of at least two parts.
fn domain(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.required(at, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let problems = format::dns_subdomain(name);
    if !problems.is_empty() {
        return e.invalid(at, name, problems.join(","));
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return e.invalid(at, name, detail);
    }
    for label in name.split('.') {
        let problems = format::dns_label(label);
        if !problems.is_empty() {
            return e.invalid(at, label, problems.join(","));
        }
    }
}

fn ports(e: &mut Report, ports: &[Value]) {
    let at = Path::new("ports");
    if too_many(e, &at, ports.len(), MAX_PORTS) {
        return;
    }
    let mut names = BTreeSet::new();
    for (n, port) in ports.iter().enumerate() {
        let at = at.index(n);
        let name = port.text("name");
        e.form_if_filled(&at.child("name"), name, format::dns_label);
        if !names.insert(name) {
            e.duplicate(&at.child("name"), name);
        }
        match port.text_given("protocol") {
            None => e.required(&at.child("protocol"), ""),
            Some(protocol) => e.one_of(&at.child("protocol"), protocol, &PROTOCOLS),
        }
        if let Some(protocol) = port.text_given("appProtocol") {
            e.form(&at.child("appProtocol"), protocol, format::qualified_name);
        }
    }
}
