//! Endpoints, the list that slices have replaced.

use flumen_fields::Path;
use serde_json::Value;

use super::containers::PROTOCOLS;
use super::format;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use crate::read::Read;

pub(super) fn endpoints(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    subsets(e, object.list("subsets"));
}

pub(super) fn endpoints_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    meta::check(e, new, Scope::Namespaced, Naming::SUBDOMAIN);
    if new.list("subsets") != old.list("subsets") {
        subsets(e, new.list("subsets"));
    }
}

fn subsets(e: &mut Report, subsets: &[Value]) {
    let at = Path::new("subsets");
    for (n, subset) in subsets.iter().enumerate() {
        let at = at.index(n);
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|list| subset.list(list).is_empty()) {
            e.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for list in lists {
            let at = at.child(list);
            for (n, address) in subset.list(list).iter().enumerate() {
                let at = at.index(n);
                e.ip(&at.child("ip"), address.text("ip"), &[]);
                let host = address.text("hostname");
                e.form_if_filled(&at.child("hostname"), host, format::dns_label);
                if let Some(node) = address.text_given("nodeName") {
                    e.form(&at.child("nodeName"), node, format::dns_subdomain);
                }
                e.endpoint_ip(&at.child("ip"), address.text("ip"));
            }
        }
        let ports = subset.list("ports");
        let at = at.child("ports");
        for (n, port) in ports.iter().enumerate() {
            let at = at.index(n);
            let name = port.text("name");
            if ports.len() > 1 {
                e.required_form(&at.child("name"), name, format::dns_label);
            } else {
                e.form_if_filled(&at.child("name"), name, format::dns_label);
            }
            e.port(&at.child("port"), port.int("port"));
            e.choice(&at.child("protocol"), port.text("protocol"), &PROTOCOLS);
            if let Some(protocol) = port.text_given("appProtocol") {
                e.form(&at.child("appProtocol"), protocol, format::qualified_name);
            }
        }
    }
}
