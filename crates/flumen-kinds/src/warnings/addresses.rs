//! Addresses and ranges in forms that are on their way out, and fields of services without effect.

use std::net::IpAddr;

use flumen_fields::Path;
use serde_json::Value;

use crate::read::Read;
use crate::validate::{Range, parse_ip};

/// An address that was written in an odd way.
pub(super) fn ip(found: &mut Vec<String>, at: &Path<'_>, value: &str) {
    let Some(address) = parse_ip(value) else { return };
    match value.parse::<IpAddr>() {
        Ok(IpAddr::V6(strict)) if address.is_ipv6() => {
            let canonical = strict.to_string();
            if canonical != value {
                found.push(format!("{at}: IPv6 address {value:?} should be in RFC 5952 canonical format ({canonical:?})"));
            }
        }
        Ok(IpAddr::V4(_)) => {}
        _ => {
            let canonical = address.to_string();
            found.push(format!("{at}: non-standard IP address {value:?} will be considered invalid in a future Kubernetes release: use {canonical:?}"));
        }
    }
}

fn cidr(found: &mut Vec<String>, at: &Path<'_>, value: &str) {
    let Some(range) = Range::parse(value) else { return };
    let before = found.len();
    let masked = range.masked();
    if masked != range {
        let bits = if range.address.is_ipv4() { 32 } else { 128 };
        let single = Range { address: range.address, bits }.to_string();
        let whole = masked.to_string();
        found.push(format!("{at}: CIDR value {value:?} is ambiguous in this context (should be {whole:?} or {single:?}?)"));
    }
    let (written, bits) = value.split_once('/').unwrap_or((value, ""));
    let odd = written.parse::<IpAddr>().is_err()
        || (bits.len() > 1 && bits.starts_with('0'))
        || (written.contains(':') && range.address.is_ipv4());
    if odd {
        let canonical = masked.to_string();
        found.push(format!("{at}: non-standard CIDR value {value:?} will be considered invalid in a future Kubernetes release: use {canonical:?}"));
    }
    let canonical = range.to_string();
    if found.len() == before && range.address.is_ipv6() && canonical != value {
        found.push(format!(
            "{at}: IPv6 CIDR value {value:?} should be in RFC 5952 canonical format ({canonical:?})"
        ));
    }
}

/// The ranges in a field of this name.
pub(super) fn ranges(found: &mut Vec<String>, at: &Path<'_>, parent: &Value, field: &str) {
    for (n, range) in parent.texts(field).enumerate() {
        cidr(found, &at.index(n), range);
    }
}

fn addresses(found: &mut Vec<String>, at: &Path<'_>, parent: &Value, field: &str) {
    for (n, address) in parent.texts(field).enumerate() {
        ip(found, &at.index(n), address);
    }
}

pub(super) fn service(found: &mut Vec<String>, service: &Value) {
    let spec = service.part("spec");
    let at = Path::new("spec");
    let hints = "service.kubernetes.io/topology-aware-hints";
    if service.part("metadata").part("annotations").some(hints).is_some() {
        found.push(format!("annotation {hints} is deprecated, please use service.kubernetes.io/topology-mode instead"));
    }
    let headless = spec.text("clusterIP") == "None";
    if !headless && !spec.text("clusterIP").is_empty() {
        addresses(found, &at.child("clusterIPs"), spec, "clusterIPs");
    }
    if headless {
        let ignored = [
            ("loadBalancerIP", !spec.text("loadBalancerIP").is_empty()),
            ("externalIPs", !spec.list("externalIPs").is_empty()),
            ("SessionAffinity", spec.text("sessionAffinity") != "None"),
        ];
        for (field, _) in ignored.iter().filter(|(_, set)| *set) {
            found.push(format!("spec.{field} is ignored for headless services"));
        }
    }
    addresses(found, &at.child("externalIPs"), spec, "externalIPs");
    if !spec.text("loadBalancerIP").is_empty() {
        ip(found, &at.child("loadBalancerIP"), spec.text("loadBalancerIP"));
    }
    let field = "loadBalancerSourceRanges";
    ranges(found, &at.child(field), spec, field);
    let named = spec.text("type") == "ExternalName";
    if named && !spec.list("externalIPs").is_empty() {
        found.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".into());
    }
    if !named && !spec.text("externalName").is_empty() {
        found.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".into());
    }
    if spec.text("trafficDistribution") == "PreferClose" {
        found.push(
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""
                .into(),
        );
    }
}

pub(super) fn endpoints(found: &mut Vec<String>, object: &Value) {
    let managed = "endpoints.kubernetes.io/managed-by";
    if object.part("metadata").part("labels").text(managed) == "endpoint-controller" {
        return;
    }
    let at = Path::new("subsets");
    for (n, subset) in object.list("subsets").iter().enumerate() {
        let at = at.index(n);
        for list in ["addresses", "notReadyAddresses"] {
            let at = at.child(list);
            for (n, address) in subset.list(list).iter().enumerate() {
                ip(found, &at.index(n).child("ip"), address.text("ip"));
            }
        }
    }
}

pub(super) fn slice(found: &mut Vec<String>, object: &Value, old: Option<&Value>) {
    if old.is_none() && object.text("addressType") == "FQDN" {
        found.push("spec.addressType: FQDN endpoints are deprecated".into());
    }
    let manager =
        object.part("metadata").part("labels").text("endpointslice.kubernetes.io/managed-by");
    let controllers =
        ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
    if controllers.contains(&manager) {
        return;
    }
    let at = Path::new("endpoints");
    for (n, endpoint) in object.list("endpoints").iter().enumerate() {
        let at = at.index(n);
        addresses(found, &at.child("addresses"), endpoint, "addresses");
    }
}

pub(super) fn network_policy(found: &mut Vec<String>, spec: &Value) {
    let at = Path::new("spec");
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        let at = at.child(list);
        for (n, rule) in spec.list(list).iter().enumerate() {
            let at = at.index(n);
            let at = at.child(peers);
            for (n, peer) in rule.list(peers).iter().enumerate() {
                let Some(block) = peer.some("ipBlock") else { continue };
                let at = at.index(n);
                let at = at.child("ipBlock");
                cidr(found, &at.child("cidr"), block.text("cidr"));
                ranges(found, &at.child("except"), block, "except");
            }
        }
    }
}
