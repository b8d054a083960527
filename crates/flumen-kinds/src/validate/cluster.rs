//! Nodes, quotas, limits, leases, priorities and classes of runtimes.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::address::Range;
use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, resources, scheduling};
use crate::internal;
use crate::quantity::Quantity;
use crate::read::Read;

pub(super) fn node(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    taints(e, object);
    capacities(e, object);
    let ranges: Vec<&str> = object.part("spec").texts("podCIDRs").collect();
    let at = Path::new("spec");
    let at = at.child("podCIDRs");
    for (n, range) in ranges.iter().enumerate() {
        e.cidr(&at.index(n), range, &[]);
    }
    if ranges.len() > 1 {
        let family = |range: &&str| Range::parse(range).map(|range| range.address.is_ipv4());
        let families: BTreeSet<Option<bool>> = ranges.iter().map(family).collect();
        if families.len() != 2 || ranges.len() > 2 {
            let detail = "may specify no more than one CIDR for each IP family";
            e.invalid(&at, object.part("spec").part("podCIDRs").clone(), detail);
        }
    }
}

fn taints(e: &mut Report, object: &Value) {
    let at = Path::new("metadata");
    let at = at.child("taints");
    let mut seen = BTreeSet::new();
    for (n, taint) in object.part("spec").list("taints").iter().enumerate() {
        let at = at.index(n);
        let (key, value, effect) = (taint.text("key"), taint.text("value"), taint.text("effect"));
        e.form(&at.child("key"), key, format::qualified_name);
        let problems = format::label_value(value);
        if !problems.is_empty() {
            e.invalid(&at.child("value"), value, problems.join(";"));
        }
        e.choice(&at.child("effect"), effect, &scheduling::TAINT_EFFECTS);
        if !seen.insert((key, effect)) {
            let mut error = FieldError::duplicate(&at, internal::shown("core.Taint", taint));
            "taints must be unique by key and effect pair".clone_into(&mut error.detail);
            e.push(error);
        }
    }
}

fn capacities(e: &mut Report, object: &Value) {
    let at = Path::new("status");
    for field in ["capacity", "allocatable"] {
        let at = at.child(field);
        for (name, value) in object.part("status").map(field) {
            resources::amount(e, &at.child(name), name, value);
        }
    }
}

pub(super) fn node_update(e: &mut Report, new: &Value, old: &Value) {
    node(e, new);
    node_status(e, new, old);
}

pub(super) fn node_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    capacities(e, new);
    let (spec, was) = (new.part("spec"), old.part("spec"));
    let at = Path::new("status");
    let at = at.child("addresses");
    let addresses = new.part("status").list("addresses");
    for (n, address) in addresses.iter().enumerate() {
        if addresses[..n].contains(address) {
            let key = |field: &str| Value::from(address.text(field)).to_string();
            let text = format!("{{\"Type\":{},\"Address\":{}}}", key("type"), key("address"));
            e.duplicate(&at.index(n), flumen_fields::Shown::Text(text));
        }
    }
    let at = Path::new("spec");
    let (now, then) = (spec.list("podCIDRs"), was.list("podCIDRs"));
    let detail = "node updates may not change podCIDR except from \"\" to valid";
    if !then.is_empty() && now.len() != then.len() {
        e.forbidden(&at.child("podCIDRs"), detail);
    } else if !then.is_empty() {
        for _ in now.iter().zip(then).filter(|(now, then)| now != then) {
            e.forbidden(&at.child("podCIDRs"), detail);
        }
    }
    let provider = was.text("providerID");
    if !provider.is_empty() && provider != spec.text("providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        e.forbidden(&at.child("providerID"), detail);
    }
    taints(e, new);
    if spec.text("externalID") != was.text("externalID") {
        e.forbidden(&at.child("externalID"), "may not be updated");
    }
}

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
        if Quantity::of(low) > Quantity::of(high) {
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
        let one = Quantity::parse("1").unwrap_or_default();
        if Quantity::of(ratio) < one {
            e.invalid(&at, (*ratio).clone(), format!("ratio {text} is less than 1"));
        }
        if let (Some(low), Some(high)) = (values.get("min"), values.get("max")) {
            let most = Quantity::of(high).ratio(Quantity::of(low));
            if Quantity::of(ratio).ratio(one) > most {
                let detail = format!("ratio {text} is greater than max/min = {most:.6}");
                e.invalid(&at, (*ratio).clone(), detail);
            }
        }
    }
    if let (Some(limit), Some(asked)) = (values.get("default"), values.get(request)) {
        let differ = Quantity::of(limit) != Quantity::of(asked);
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

pub(super) fn lease(e: &mut Report, object: &Value) {
    meta::check_any(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    lease_spec(e, object.part("spec"));
}

pub(super) fn lease_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_any_update(e, new, old);
    lease_spec(e, new.part("spec"));
}

fn lease_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    if let Some(seconds) = spec.int_given("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        e.invalid(&at.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    e.not_negative(&at.child("leaseTransitions"), spec.int("leaseTransitions"));
    let strategy = spec.text_given("strategy");
    if let Some(strategy) = strategy {
        let at = at.child("strategy");
        let at = at.child("strategy");
        if strategy.contains('/') {
            e.form(&at, strategy, format::qualified_name);
        } else {
            e.one_of(&at, strategy, &["OldestEmulationVersion"]);
        }
    }
    let holder = spec.text("preferredHolder");
    if !holder.is_empty() && strategy.is_none_or(str::is_empty) {
        let detail = "may only be specified if `strategy` is defined";
        e.forbidden(&at.child("preferredHolder"), detail);
    }
}

const HIGHEST_PRIORITY: i64 = 1_000_000_000;

pub(super) fn priority_class(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let name = object.part("metadata").text("name");
    let value = object.int("value");
    if name.starts_with("system-") {
        let known = match name {
            "system-node-critical" => Some(2 * HIGHEST_PRIORITY + 1000),
            "system-cluster-critical" => Some(2 * HIGHEST_PRIORITY),
            _ => None,
        };
        let problem = match known {
            None => Some(format!("{name} is not a known system priority class")),
            Some(known) if known != value => {
                Some(format!("value of {name} PriorityClass must be {known}"))
            }
            Some(_) if object.truth("globalDefault") => {
                Some(format!("globalDefault of {name} PriorityClass must be false"))
            }
            Some(_) => None,
        };
        if let Some(problem) = problem {
            let at = Path::new("metadata");
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {problem}"
            );
            e.forbidden(&at.child("name"), detail);
        }
    } else if value > HIGHEST_PRIORITY {
        let detail =
            format!("maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}");
        e.forbidden(&Path::new("value"), detail);
    }
    if let Some(policy) = object.text_given("preemptionPolicy") {
        e.choice(&Path::new("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
}

pub(super) fn priority_class_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    if new.int("value") != old.int("value") {
        e.forbidden(&Path::new("value"), "may not be changed in an update.");
    }
    let field = "preemptionPolicy";
    e.immutable(&Path::new(field), new.part(field), old.part(field));
}

pub(super) fn runtime_class(e: &mut Report, object: &Value) {
    meta::check_any(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    e.form(&Path::new("handler"), object.text("handler"), format::dns_label);
    if let Some(overhead) = object.some("overhead") {
        let limits = serde_json::json!({"limits": overhead.part("podFixed")});
        let name = resources::container_name;
        resources::requirements(e, &Path::new("overhead"), &limits, name, &BTreeSet::new());
    }
    let Some(scheduling) = object.some("scheduling") else { return };
    let at = Path::new("scheduling");
    meta::labels(e, &at.child("nodeSelector"), scheduling, "nodeSelector");
    let at = at.child("tolerations");
    let tolerations = scheduling.list("tolerations");
    scheduling::tolerations(e, &at, tolerations);
    let mut seen = BTreeSet::new();
    for (n, toleration) in tolerations.iter().enumerate() {
        let key = ["key", "operator", "value", "effect"].map(|field| toleration.text(field));
        if !seen.insert(key) {
            e.duplicate(&at.index(n), internal::shown("core.Toleration", toleration));
        }
    }
}

pub(super) fn runtime_class_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_any_update(e, new, old);
    e.immutable(&Path::new("handler"), new.part("handler"), old.part("handler"));
}

pub(super) fn disruption_budget(e: &mut Report, object: &Value) {
    let at = Path::new("spec");
    let spec = object.part("spec");
    if spec.some("minAvailable").is_some() && spec.some("maxUnavailable").is_some() {
        let shown = internal::shown("policy.PodDisruptionBudgetSpec", spec);
        e.invalid(&at, shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = spec.some(field) {
            super::workloads::count_or_percent(e, &at.child(field), value);
            super::workloads::at_most_all(e, &at.child(field), value);
        }
    }
    super::selector::check(e, &at.child("selector"), spec.part("selector"));
    let policy = spec.text_given("unhealthyPodEvictionPolicy");
    let known = ["AlwaysAllow", "IfHealthyBudget"];
    e.one_of_if_given(&at.child("unhealthyPodEvictionPolicy"), policy, &known);
}

pub(super) fn disruption_budget_update(e: &mut Report, new: &Value, _old: &Value) {
    disruption_budget(e, new);
}

pub(super) fn disruption_budget_status(e: &mut Report, new: &Value, _old: &Value) {
    let at = Path::new("status");
    let status = new.part("status");
    conditions(e, &at.child("conditions"), status.list("conditions"));
    for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        e.not_negative(&at.child(field), status.int(field));
    }
}

/// Conditions in the form that all kinds of today share.
pub(super) fn conditions(e: &mut Report, at: &Path<'_>, conditions: &[Value]) {
    let mut types = BTreeSet::new();
    for (n, condition) in conditions.iter().enumerate() {
        let at = at.index(n);
        if !types.insert(condition.text("type")) {
            e.duplicate(&at.child("type"), condition.text("type"));
        }
        e.form(&at.child("type"), condition.text("type"), format::qualified_name);
        e.one_of(&at.child("status"), condition.text("status"), &["False", "True", "Unknown"]);
        let generation = condition.int("observedGeneration");
        if generation < 0 {
            let at = at.child("observedGeneration");
            e.invalid(&at, generation, "must be greater than or equal to zero");
        }
        if condition.some("lastTransitionTime").is_none() {
            e.required(&at.child("lastTransitionTime"), "");
        }
        let reason = condition.text("reason");
        e.required_form(&at.child("reason"), reason, format::condition_reason);
        for (field, limit) in [("reason", 1024), ("message", 32 * 1024)] {
            if condition.text(field).len() > limit {
                e.push(FieldError::new(
                    FieldErrorKind::TooLong,
                    &at.child(field),
                    None,
                    format!("may not be more than {limit} bytes"),
                ));
            }
        }
    }
}
