//! Quotas and limits of a namespace.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, resources};
use crate::internal;
use crate::read::{Read, quantity};

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

pub(super) fn quota(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    quota_spec(e, object.part("spec"));
    quota_amounts(e, object);
}

fn quota_amounts(e: &mut Report, object: &Value) {
    let at = Path::new("status");
    for field in ["hard", "used"] {
        let at = at.child(field);
        for (name, value) in object.part("status").map(field) {
            resources::quota_name(e, &at.key(name), name);
            resources::amount(e, &at.key(name), name, value);
        }
    }
}

fn scope_fits(scope: &str, resource: &str) -> bool {
    let compute = matches!(
        resource,
        "cpu" | "memory" | "limits.cpu" | "limits.memory" | "requests.cpu" | "requests.memory"
    );
    match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => resource == "pods" || compute,
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        _ => true,
    }
}

fn quota_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    let hard = spec.map("hard");
    let hard_at = at.child("hard");
    for (name, value) in hard {
        resources::quota_name(e, &hard_at.key(name), name);
        resources::amount(e, &hard_at.key(name), name, value);
    }
    let unfit = |scope: &str| {
        let names = hard.keys().filter(|name| resources::is_standard_for_quota(name));
        names.filter(|name| !scope_fits(scope, name)).count()
    };
    let conflicting = |scopes: &[&str]| {
        [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")]
            .into_iter()
            .filter(|(one, other)| scopes.contains(one) && scopes.contains(other))
            .count()
    };
    let scopes: Vec<&str> = spec.texts("scopes").collect();
    let shown = || spec.part("scopes").clone();
    let scopes_at = at.child("scopes");
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            e.invalid(&scopes_at, shown(), "unsupported scope");
        }
        for _ in 0..unfit(scope) {
            e.invalid(&scopes_at, shown(), "unsupported scope applied to resource");
        }
    }
    for _ in 0..conflicting(&scopes) {
        e.invalid(&scopes_at, shown(), "conflicting scopes");
    }
    let Some(selector) = spec.some("scopeSelector") else { return };
    let at = at.child("scopeSelector");
    let at = at.child("matchExpressions");
    let mut names = Vec::new();
    for requirement in selector.list("matchExpressions") {
        let scope = requirement.text("scopeName");
        if !SCOPES.contains(&scope) {
            e.invalid(&at.child("scopeName"), scope, "unsupported scope");
        }
        for _ in 0..unfit(scope) {
            let shown = internal::shown("core.ScopeSelector", selector);
            e.invalid(&at, shown, "unsupported scope applied to resource");
        }
        let operator = requirement.text("operator");
        let exists_only = !matches!(scope, "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope) && exists_only && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            e.invalid(&at.child("operator"), operator, detail);
        }
        let values = requirement.list("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                e.required(&at.child("values"), detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                e.invalid(&at.child("values"), values.to_vec(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => e.invalid(&at.child("operator"), other, "not a valid selector operator"),
        }
        names.push(scope);
    }
    for _ in 0..conflicting(&names) {
        e.invalid(&at, shown(), "conflicting scopes");
    }
}

pub(super) fn quota_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    quota_spec(e, new.part("spec"));
    let scopes = |object: &Value| -> BTreeSet<String> {
        object.part("spec").texts("scopes").map(str::to_owned).collect()
    };
    if scopes(new) != scopes(old) {
        let at = Path::new("spec");
        e.invalid(&at.child("scopes"), new.part("spec").part("scopes").clone(), IMMUTABLE);
    }
}

pub(super) fn quota_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    quota_amounts(e, new);
}

pub(super) fn limit_range(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let at = at.child("limits");
    let mut types = BTreeSet::new();
    for (n, limit) in object.part("spec").list("limits").iter().enumerate() {
        let at = at.index(n);
        let of = limit.text("type");
        let before = e.len();
        e.form(&at.child("type"), of, format::qualified_name);
        let known = matches!(of, "Pod" | "Container" | "PersistentVolumeClaim");
        if e.len() == before && !of.contains('/') && !known {
            let detail = "must be a standard limit type or fully qualified";
            e.invalid(&at.child("type"), of, detail);
        }
        if !types.insert(of) {
            e.duplicate(&at.child("type"), of);
        }
        limits_of_type(e, &at, limit);
    }
}

pub(super) fn limit_range_update(e: &mut Report, new: &Value, _old: &Value) {
    limit_range(e, new);
}

fn limits_of_type(e: &mut Report, at: &Path<'_>, limit: &Value) {
    let of = limit.text("type");
    let mut found: BTreeMap<&str, BTreeMap<&str, &Value>> = BTreeMap::new();
    let mut read = |e: &mut Report, field: &'static str| {
        let at = at.child(field);
        for (name, value) in limit.map(field) {
            if matches!(of, "Pod" | "Container") {
                resources::container_name(e, &at.key(name), name);
            } else {
                resources::name(e, &at.key(name), name);
            }
            found.entry(name).or_default().insert(field, value);
        }
    };
    read(e, "max");
    read(e, "min");
    for field in ["default", "defaultRequest"] {
        if of != "Pod" {
            read(e, field);
        } else if !limit.map(field).is_empty() {
            e.forbidden(&at.child(field), "may not be specified when `type` is 'Pod'");
        }
    }
    let storage = |field: &str| limit.map(field).contains_key("storage");
    if of == "PersistentVolumeClaim" && !storage("min") && !storage("max") {
        let detail =
            "either minimum or maximum storage value is required, but neither was provided";
        e.required(&at.child("limits"), detail);
    }
    read(e, "maxLimitRequestRatio");
    for (name, values) in &found {
        limits_of_resource(e, at, name, values);
    }
}

fn limits_of_resource(e: &mut Report, at: &Path<'_>, name: &str, values: &BTreeMap<&str, &Value>) {
    let texts = |field: &str| values.get(field).and_then(|value| value.as_str());
    let mut ordered = |small: (&str, &str), large: (&str, &str), at_field: &str, shown: &str| {
        let (Some(low), Some(high)) = (values.get(small.0), values.get(large.0)) else { return };
        if quantity(low) > quantity(high) {
            let (low, high) =
                (texts(small.0).unwrap_or_default(), texts(large.0).unwrap_or_default());
            let detail =
                format!("{} value {low} is greater than {} value {high}", small.1, large.1);
            let value = values.get(shown).copied().cloned().unwrap_or_default();
            e.invalid(&at.child(at_field).key(name), value, detail);
        }
    };
    ordered(("min", "min"), ("max", "max"), "min", "min");
    let request = "defaultRequest";
    ordered(("min", "min"), (request, "default request"), request, request);
    ordered((request, "default request"), ("max", "max"), request, request);
    ordered((request, "default request"), ("default", "default limit"), request, request);
    ordered(("min", "min"), ("default", "default"), "default", "min");
    ordered(("default", "default"), ("max", "max"), "default", "max");
    if let Some(ratio) = values.get("maxLimitRequestRatio") {
        let at = at.child("maxLimitRequestRatio");
        let at = at.key(name);
        let text = ratio.as_str().unwrap_or_default();
        let thousandths = |value: &Value| precise(quantity(value).milli());
        if thousandths(ratio) < 1000.0 {
            e.invalid(&at, (*ratio).clone(), format!("ratio {text} is less than 1"));
        }
        if let (Some(low), Some(high)) = (values.get("min"), values.get("max")) {
            let most = thousandths(high) / thousandths(low);
            if thousandths(ratio) / 1000.0 > most {
                let detail = format!("ratio {text} is greater than max/min = {most:.6}");
                e.invalid(&at, (*ratio).clone(), detail);
            }
        }
    }
    if let (Some(limit), Some(asked)) = (values.get("default"), values.get(request)) {
        let differ = quantity(limit) != quantity(asked);
        if differ && !resources::allows_overcommit(name) {
            let (limit, text) =
                (limit.as_str().unwrap_or_default(), asked.as_str().unwrap_or_default());
            let detail = format!(
                "default value {limit} must equal to defaultRequest value {text} in {name}"
            );
            e.invalid(&at.child(request).key(name), (*asked).clone(), detail);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "ratios are shown with six digits")]
fn precise(value: i64) -> f64 {
    value as f64
}
