//! Nodes, leases, priorities, classes of runtimes and disruption budgets.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::address::Range;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{format, resources, scheduling};
use crate::internal;
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
    runtime_class(e, new);
    meta::check_any_update(e, new, old);
    e.immutable_text(&Path::new("handler"), new.text("handler"), old.text("handler"));
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
