//! Which server answers for a version of a group.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::meta::{self, Scope};
use super::report::Report;
use crate::read::Read;

const CONDITIONS: [&str; 3] = ["True", "False", "Unknown"];

pub(super) fn service(e: &mut Report, object: &Value) {
    let spec = object.part("spec");
    let (group, version) = (spec.text("group"), spec.text("version"));
    let wanted = format!("{version}.{group}");
    let name = |name: &str| match format::path_segment(name) {
        problems if !problems.is_empty() => problems,
        _ if name != wanted => {
            vec![format!("must be `spec.version+\".\"+spec.group`: {wanted:?}")]
        }
        _ => Vec::new(),
    };
    meta::check_named(e, object, Scope::Cluster, name, name);
    let at = Path::new("spec");
    if group.is_empty() && version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        e.required(&at.child("group"), detail);
    }
    e.form_if_filled(&at.child("group"), group, format::dns_subdomain);
    e.form(&at.child("version"), version, format::dns_1035_label);
    for (field, highest) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = spec.int(field);
        if !(1..=highest).contains(&priority) {
            let detail = format!("must be positive and less than {highest}");
            e.invalid(&at.child(field), priority, detail);
        }
    }
    let bundle = STANDARD.decode(spec.text("caBundle")).unwrap_or_default().len();
    let is_trusted = spec.truth("insecureSkipTLSVerify");
    let (bundle_at, trust_at) = (at.child("caBundle"), at.child("insecureSkipTLSVerify"));
    let Some(service) = spec.some("service") else {
        if bundle > 0 {
            let shown = format!("{bundle} bytes");
            e.invalid(&bundle_at, shown, "local APIServices may not have a caBundle");
        }
        if is_trusted {
            e.invalid(&trust_at, true, "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    };
    let at = at.child("service");
    e.filled(&at.child("namespace"), service.text("namespace"));
    e.filled(&at.child("name"), service.text("name"));
    let port = service.int("port");
    if !(1..=65535).contains(&port) {
        let detail = format!("port is not valid: {}", format::between(1, 65535));
        e.invalid(&at.child("port"), port, detail);
    }
    if is_trusted && bundle > 0 {
        e.invalid(&trust_at, true, "may not be true if caBundle is present");
    }
}

pub(super) fn service_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_any_update(e, new, old);
    service(e, new);
}

pub(super) fn service_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_any_update(e, new, old);
    let at = Path::new("status");
    let at = at.child("conditions");
    for (n, condition) in new.part("status").list("conditions").iter().enumerate() {
        e.one_of(&at.index(n).child("status"), condition.text("status"), &CONDITIONS);
    }
}
