//! Where pods may run: affinity, tolerations, spreading.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::report::Report;
use super::selector::{self, Values};
use crate::read::Read;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
pub(super) const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub(super) fn affinity(e: &mut Report, at: &Path<'_>, affinity: &Value) {
    if let Some(nodes) = affinity.some("nodeAffinity") {
        let at = at.child("nodeAffinity");
        if let Some(required) = nodes.some(REQUIRED) {
            selector::nodes(e, &at.child(REQUIRED), required);
        }
        let at = at.child(PREFERRED);
        for (n, term) in nodes.list(PREFERRED).iter().enumerate() {
            let at = at.index(n);
            weight(e, &at, term);
            let preference = term.part("preference");
            selector::node_term(e, &at.child("preference"), preference, Values::Any);
        }
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = affinity.some(kind) else { continue };
        let at = at.child(kind);
        let required = at.child(REQUIRED);
        for (n, term) in pods.list(REQUIRED).iter().enumerate() {
            pod_term(e, &required.index(n), term);
        }
        let preferred = at.child(PREFERRED);
        for (n, term) in pods.list(PREFERRED).iter().enumerate() {
            let at = preferred.index(n);
            weight(e, &at, term);
            pod_term(e, &at.child("podAffinityTerm"), term.part("podAffinityTerm"));
        }
    }
}

fn weight(e: &mut Report, at: &Path<'_>, term: &Value) {
    let weight = term.int("weight");
    if !(1..=100).contains(&weight) {
        e.invalid(&at.child("weight"), weight, "must be in the range 1-100");
    }
}

fn pod_term(e: &mut Report, at: &Path<'_>, term: &Value) {
    selector::check(e, &at.child("labelSelector"), term.part("labelSelector"));
    selector::check(e, &at.child("namespaceSelector"), term.part("namespaceSelector"));
    for namespace in term.texts("namespaces") {
        e.form(&at.child("namespace"), namespace, format::dns_label);
    }
    label_keys(e, at, term);
    let key = term.text("topologyKey");
    if key.is_empty() {
        e.required(&at.child("topologyKey"), "can not be empty");
    }
    e.form(&at.child("topologyKey"), key, format::qualified_name);
}

/// Keys of labels that pods have to share with this one, or not.
fn label_keys(e: &mut Report, at: &Path<'_>, term: &Value) {
    let labels = term.some("labelSelector");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let at = at.child(field);
        if labels.is_none() && !term.list(field).is_empty() {
            e.forbidden(&at, "must not be specified when labelSelector is not set");
            continue;
        }
        for (n, key) in term.texts(field).enumerate() {
            e.form(&at.index(n), key, format::qualified_name);
        }
    }
    if let Some(labels) = labels {
        let mut seen: BTreeSet<&str> =
            labels.map("matchLabels").keys().map(String::as_str).collect();
        for expression in labels.list("matchExpressions") {
            let key = expression.text("key");
            let place = term.texts("matchLabelKeys").position(|known| known == key);
            if let Some(place) = place.filter(|_| seen.contains(key)) {
                let detail = "exists in both matchLabelKeys and labelSelector";
                e.invalid(&at.index(place), key, detail);
            }
            seen.insert(key);
        }
    }
    let keys = at.child("matchLabelKeys");
    for (n, key) in term.texts("matchLabelKeys").enumerate() {
        if term.texts("mismatchLabelKeys").any(|other| other == key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            e.invalid(&keys.index(n), key, detail);
        }
    }
}

pub(super) fn tolerations(e: &mut Report, at: &Path<'_>, tolerations: &[Value]) {
    for (n, toleration) in tolerations.iter().enumerate() {
        let at = at.index(n);
        let (key, operator) = (toleration.text("key"), toleration.text("operator"));
        let (value, effect) = (toleration.text("value"), toleration.text("effect"));
        e.form_if_filled(&at.child("key"), key, format::qualified_name);
        let operator_at = at.child("operator");
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            e.invalid(&operator_at, operator, detail);
        }
        if toleration.some("tolerationSeconds").is_some() && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            e.invalid(&at.child("effect"), effect, detail);
        }
        match operator {
            "Equal" | "" => {
                let problems = format::label_value(value);
                if !problems.is_empty() {
                    e.invalid(&operator_at, value, problems.join(";"));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    let detail = "value must be empty when `operator` is 'Exists'";
                    e.invalid(&operator_at, value, detail);
                }
            }
            "Lt" | "Gt" => {
                e.not_supported(&operator_at, operator, &["Equal", "Exists", "Lt", "Gt"]);
            }
            other => e.not_supported(&operator_at, other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            e.one_of(&at.child("effect"), effect, &TAINT_EFFECTS);
        }
    }
}

pub(super) fn spread(e: &mut Report, at: &Path<'_>, constraints: &[Value]) {
    for (n, constraint) in constraints.iter().enumerate() {
        let at = at.index(n);
        e.positive(&at.child("maxSkew"), constraint.int("maxSkew"));
        let (key, action) = (constraint.text("topologyKey"), constraint.text("whenUnsatisfiable"));
        if key.is_empty() {
            e.required(&at.child("topologyKey"), "can not be empty");
        }
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        e.one_of(&at.child("whenUnsatisfiable"), action, &actions);
        let same = |other: &Value| {
            other.text("topologyKey") == key && other.text("whenUnsatisfiable") == action
        };
        if constraints[n + 1..].iter().any(same) {
            let at = at.child("{topologyKey, whenUnsatisfiable}");
            e.duplicate(&at, format!("{{{key}, {action}}}"));
        }
        if let Some(domains) = constraint.int_given("minDomains") {
            let at = at.child("minDomains");
            e.positive(&at, domains);
            if action != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                );
                e.invalid(&at, domains, detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = constraint.text_given(field);
            e.one_of_if_given(&at.child(field), policy, &["Honor", "Ignore"]);
        }
        label_keys(e, &at, constraint);
        selector::check(e, &at.child("labelSelector"), constraint.part("labelSelector"));
    }
}
