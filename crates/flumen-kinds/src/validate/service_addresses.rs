//! Addresses of services inside the cluster, and their families.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::address::{self, is_v6};
use super::report::Report;
use super::services::{is_headless, texts};
use crate::read::Read;

pub(super) fn check(e: &mut Report, service: &Value, old: Option<&Value>) {
    let spec = service.part("spec");
    if spec.text("type") == "ExternalName" {
        return;
    }
    let at = Path::new("spec");
    let addresses_at = at.child("clusterIPs");
    let addresses = texts(spec.list("clusterIPs"));
    let shown = || spec.part("clusterIPs").clone();
    match (spec.text("clusterIP"), addresses.first()) {
        ("", Some(_)) => {
            let detail = "must be empty when `clusterIP` is not specified";
            e.invalid(&addresses_at, shown(), detail);
        }
        ("", None) => {}
        (_, None) => e.required(&addresses_at, ""),
        (one, Some(first)) if *first != one => {
            e.invalid(&addresses_at, shown(), "first value must match `clusterIP`");
        }
        _ => {}
    }
    let families = texts(spec.list("ipFamilies"));
    let families_at = at.child("ipFamilies");
    let mut seen = BTreeSet::new();
    for (n, family) in families.iter().enumerate() {
        e.one_of(&families_at.index(n), family, &["IPv4", "IPv6"]);
        if !seen.insert(*family) {
            e.duplicate(&families_at.index(n), *family);
        }
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    e.one_of_if_given(&at.child("ipFamilyPolicy"), spec.text_given("ipFamilyPolicy"), &policies);
    let known = old.map(|old| texts(old.part("spec").list("clusterIPs"))).unwrap_or_default();
    let mut invalid = false;
    for (n, address) in addresses.iter().enumerate() {
        if n == 0 && *address == "None" {
            if addresses.len() > 1 {
                invalid = true;
                e.invalid(&addresses_at, shown(), "'None' must be the first and only value");
            }
            continue;
        }
        invalid |= !e.ip(&addresses_at.index(n), address, &known);
    }
    if addresses.len() > 2 {
        e.invalid(&addresses_at, shown(), "may only hold up to 2 values");
    }
    if invalid {
        return;
    }
    if addresses.len() > 1 && !address::is_dual_stack(addresses.iter().copied()) {
        let detail = "may specify no more than one IP for each IP family";
        e.invalid(&addresses_at, shown(), detail);
    }
    if is_headless(service) {
        return;
    }
    for (n, (address, family)) in addresses.iter().zip(&families).enumerate() {
        let fits = match *family {
            "IPv4" => !is_v6(address),
            "IPv6" => is_v6(address),
            _ => true,
        };
        if !fits {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{n}]`");
            e.invalid(&addresses_at.index(n), *address, detail);
        }
    }
}

pub(super) fn changed(e: &mut Report, new: &Value, old: &Value) {
    let (spec, was) = (new.part("spec"), old.part("spec"));
    if spec.text("type") == "ExternalName" || was.text("type") == "ExternalName" {
        return;
    }
    if is_headless(new) && is_headless(old) {
        return;
    }
    let (now, then) = (texts(spec.list("clusterIPs")), texts(was.list("clusterIPs")));
    let at = Path::new("spec");
    let list = at.child("clusterIPs");
    let shown = || spec.part("clusterIPs").clone();
    let changed = "may not change once set";
    if now.len() == then.len() {
        for n in (0..now.len()).filter(|n| now[*n] != then[*n]) {
            e.invalid(&list.index(n), shown(), changed);
        }
        return;
    }
    if now.is_empty() {
        e.invalid(&list.index(0), shown(), "primary clusterIP can not be unset");
    }
    if let (Some(now), Some(then)) = (now.first(), then.first())
        && now != then
    {
        e.invalid(&list.index(0), shown(), changed);
    }
    if now.len() == 1 && then.len() > 1 {
        single_stack(e, spec, "clusterIP");
    }
}

fn single_stack(e: &mut Report, spec: &Value, what: &str) {
    if spec.text("ipFamilyPolicy") != "SingleStack" {
        let at = Path::new("spec");
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        e.invalid(&at.child("ipFamilyPolicy"), spec.part("ipFamilyPolicy").clone(), detail);
    }
}

pub(super) fn changed_families(e: &mut Report, new: &Value, old: &Value) {
    let (spec, was) = (new.part("spec"), old.part("spec"));
    if spec.text("type") == "ExternalName" || was.text("type") == "ExternalName" {
        return;
    }
    if is_headless(new) || is_headless(old) {
        return;
    }
    let (now, then) = (texts(spec.list("ipFamilies")), texts(was.list("ipFamilies")));
    let at = Path::new("spec");
    let first = at.child("ipFamilies");
    let first = first.index(0);
    let changed = "may not change once set";
    if now.len() == then.len() {
        for _ in (0..now.len()).filter(|n| now[*n] != then[*n]) {
            e.invalid(&first, spec.part("ipFamilies").clone(), changed);
        }
        return;
    }
    if now.len() < then.len() && spec.list("clusterIPs").is_empty() {
        e.invalid(&first, spec.part("ipFamilies").clone(), "primary ipFamily can not be unset");
    }
    if let (Some(now), Some(then)) = (now.first(), then.first())
        && now != then
    {
        e.invalid(&first, spec.part("clusterIPs").clone(), changed);
    }
    if now.len() == 1 && then.len() > 1 {
        single_stack(e, spec, "ipFamily");
    }
}
