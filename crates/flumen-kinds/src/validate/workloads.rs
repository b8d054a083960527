//! Deployments, replica sets, replication controllers and revisions, and what all workloads share.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::selector::{self, Match};
use super::{format, pod};
use crate::internal;
use crate::read::Read;

const NO_MATCH: &str = "`selector` does not match template `labels`";
const OVER_REPLICAS: &str = "cannot be greater than status.replicas";

/// The selector of a workload, which has to be there and must not be empty.
pub(super) fn required_selector(e: &mut Report, at: &Path<'_>, spec: &Value, of: &str) {
    let at = at.child("selector");
    let Some(selector) = spec.some("selector") else { return e.required(&at, "") };
    selector::check(e, &at, selector);
    if selector.map("matchLabels").is_empty() && selector.list("matchExpressions").is_empty() {
        let detail = format!("empty selector is invalid for {of}");
        e.invalid(&at, selector::shown(selector), detail);
    }
}

pub(super) fn labels_match(e: &mut Report, at: &Path<'_>, template: &Value) {
    let at = at.child("metadata");
    e.invalid(&at.child("labels"), template.part("metadata").part("labels").clone(), NO_MATCH);
}

/// Pods that are meant to run for ever.
pub(super) fn always(e: &mut Report, at: &Path<'_>, template: &Value, of: &str) {
    let spec = template.part("spec");
    let at = at.child("spec");
    e.one_of(&at.child("restartPolicy"), spec.text("restartPolicy"), &["Always"]);
    if spec.some("activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {of} is not Supported");
        e.forbidden(&at.child("activeDeadlineSeconds"), detail);
    }
}

fn replica_template(e: &mut Report, at: &Path<'_>, spec: &Value, found: Match) {
    let template = spec.part("template");
    let at = at.child("template");
    if found == Match::No {
        labels_match(e, &at, template);
    }
    pod::template(e, &at, template);
    always(e, &at, template, "ReplicaSet");
}

/// What deployments and replica sets share.
fn replicas(e: &mut Report, at: &Path<'_>, spec: &Value) {
    required_selector(e, at, spec, "deployment");
    let labels = spec.part("template").part("metadata").part("labels");
    match selector::matches(spec.part("selector"), labels) {
        None => {
            let shown = selector::shown(spec.part("selector"));
            e.invalid(&at.child("selector"), shown, "invalid label selector");
        }
        Some(found) => replica_template(e, at, spec, found),
    }
}

pub(super) fn deployment(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    deployment_spec(e, object.part("spec"));
}

fn deployment_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    e.not_negative(&at.child("replicas"), spec.int("replicas"));
    replicas(e, &at, spec);
    deployment_strategy(e, &at.child("strategy"), spec.part("strategy"));
    e.not_negative(&at.child("minReadySeconds"), spec.int("minReadySeconds"));
    e.not_negative(&at.child("revisionHistoryLimit"), spec.int("revisionHistoryLimit"));
    if let Some(deadline) = spec.int_given("progressDeadlineSeconds") {
        let at = at.child("progressDeadlineSeconds");
        e.not_negative(&at, deadline);
        if deadline <= spec.int("minReadySeconds") {
            e.invalid(&at, deadline, "must be greater than minReadySeconds");
        }
    }
}

fn deployment_strategy(e: &mut Report, at: &Path<'_>, strategy: &Value) {
    let rolling = strategy.some("rollingUpdate");
    let rolling_at = at.child("rollingUpdate");
    match (strategy.text("type"), rolling) {
        ("Recreate", Some(_)) => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            e.forbidden(&rolling_at, detail);
        }
        ("Recreate", None) => {}
        ("RollingUpdate", None) => {
            e.required(&rolling_at, "this should be defaulted and never be nil");
        }
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, surge) = (rolling.part("maxUnavailable"), rolling.part("maxSurge"));
            let unavailable_at = rolling_at.child("maxUnavailable");
            count_or_percent(e, &unavailable_at, unavailable);
            count_or_percent(e, &rolling_at.child("maxSurge"), surge);
            if number(unavailable) == 0 && number(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                e.invalid(&unavailable_at, shown_count(unavailable), detail);
            }
            at_most_all(e, &unavailable_at, unavailable);
        }
        _ => {
            let shown = internal::shown("apps.DeploymentStrategy", strategy);
            e.not_supported(at, shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

/// A number or a percentage; absent is the number zero.
pub(super) fn count_or_percent(e: &mut Report, at: &Path<'_>, value: &Value) {
    match value.as_str() {
        Some(text) => e.form(at, text, format::percent),
        None => e.not_negative(at, value.as_i64().unwrap_or_default()),
    }
}

pub(super) fn shown_count(value: &Value) -> Value {
    if value.is_null() { 0.into() } else { value.clone() }
}

fn percent_of(value: &Value) -> Option<i64> {
    let text = value.as_str()?;
    if !format::percent(text).is_empty() {
        return None;
    }
    text.strip_suffix('%')?.parse().ok()
}

pub(super) fn number(value: &Value) -> i64 {
    let plain = || value.as_str().map_or(value.as_i64(), |text| text.parse().ok());
    percent_of(value).or_else(plain).unwrap_or_default()
}

pub(super) fn at_most_all(e: &mut Report, at: &Path<'_>, value: &Value) {
    if percent_of(value).is_some_and(|percent| percent > 100) {
        e.invalid(at, value.clone(), "must not be greater than 100%");
    }
}

pub(super) fn immutable_selector(e: &mut Report, new: &Value, old: &Value) {
    let (now, then) = (new.part("spec").part("selector"), old.part("spec").part("selector"));
    if now != then {
        let at = Path::new("spec");
        e.invalid(&at.child("selector"), selector::shown(now), super::report::IMMUTABLE);
    }
}

pub(super) fn deployment_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    deployment_spec(e, new.part("spec"));
    immutable_selector(e, new, old);
}

pub(super) fn deployment_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let fields = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    counters(e, new, &fields);
    bounded(e, new, &["updatedReplicas", "readyReplicas", "availableReplicas"]);
    available(e, new, "readyReplicas");
    collisions(e, new, old);
}

pub(super) fn counters(e: &mut Report, object: &Value, fields: &[&str]) {
    let at = Path::new("status");
    for field in fields {
        e.not_negative(&at.child(field), object.part("status").int(field));
    }
}

pub(super) fn bounded(e: &mut Report, object: &Value, fields: &[&str]) {
    let at = Path::new("status");
    let status = object.part("status");
    for field in fields {
        if status.int(field) > status.int("replicas") {
            e.invalid(&at.child(field), status.int(field), OVER_REPLICAS);
        }
    }
}

pub(super) fn available(e: &mut Report, object: &Value, ready: &str) {
    let at = Path::new("status");
    let status = object.part("status");
    if status.int("availableReplicas") > status.int("readyReplicas") {
        let detail = format!("cannot be greater than {ready}");
        e.invalid(&at.child("availableReplicas"), status.int("availableReplicas"), detail);
    }
}

pub(super) fn collisions(e: &mut Report, new: &Value, old: &Value) {
    let field = "collisionCount";
    let (now, then) = (new.part("status").int_given(field), old.part("status").int_given(field));
    if then.is_some_and(|then| now.is_none_or(|now| now < then)) {
        let at = Path::new("status");
        e.invalid(&at.child(field), now.unwrap_or_default(), "cannot be decremented");
    }
}

pub(super) fn replica_set(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    replica_set_spec(e, object.part("spec"));
}

fn replica_set_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    e.not_negative(&at.child("replicas"), spec.int("replicas"));
    e.not_negative(&at.child("minReadySeconds"), spec.int("minReadySeconds"));
    replicas(e, &at, spec);
}

pub(super) fn replica_set_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    replica_set_spec(e, new.part("spec"));
    immutable_selector(e, new, old);
}

pub(super) fn replica_set_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let fields = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    counters(e, new, &fields);
    bounded(e, new, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
    available(e, new, "readyReplicas");
}

pub(super) fn replication_controller(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    replication_controller_spec(e, object.part("spec"));
}

fn replication_controller_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    e.not_negative(&at.child("minReadySeconds"), spec.int("minReadySeconds"));
    let wanted = spec.map("selector");
    if wanted.is_empty() {
        e.required(&at.child("selector"), "");
    }
    match spec.int_given("replicas") {
        None => e.required(&at.child("replicas"), ""),
        Some(replicas) => e.not_negative(&at.child("replicas"), replicas),
    }
    let at = at.child("template");
    let Some(template) = spec.some("template") else { return e.required(&at, "") };
    let labels = template.part("metadata").map("labels");
    if wanted.iter().any(|(key, value)| labels.get(key) != Some(value)) {
        labels_match(e, &at, template);
    }
    pod::template(e, &at, template);
    always(e, &at, template, "ReplicationController");
}

pub(super) fn replication_controller_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    replication_controller_spec(e, new.part("spec"));
}

fn revision(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    e.not_negative(&Path::new("revision"), object.int("revision"));
}

pub(super) fn controller_revision(e: &mut Report, object: &Value) {
    revision(e, object);
    let at = Path::new("data");
    match object.get("data") {
        None | Some(Value::Null) => e.required(&at, "data is mandatory"),
        Some(Value::Object(_)) => {}
        Some(_) => e.required(&at, "data must be a valid JSON object"),
    }
}

pub(super) fn controller_revision_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    revision(e, new);
    e.immutable(&Path::new("data"), new.part("data"), old.part("data"));
}
