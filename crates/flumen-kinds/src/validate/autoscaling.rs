//! Horizontal autoscalers, as version 2 has them.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{format, resources};
use crate::read::{Read, is_positive, quantity};

const SOURCES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

pub(super) fn autoscaler(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    spec(e, object.part("spec"), None);
}

pub(super) fn autoscaler_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    spec(e, new.part("spec"), Some(old.part("spec")));
}

pub(super) fn autoscaler_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("status");
    for field in ["currentReplicas", "desiredReplicas"] {
        e.not_negative(&at.child(field), new.part("status").int(field));
    }
}

/// What the version of a referenced object has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    WithGroup,
    Any,
    Unchecked,
}

fn spec(e: &mut Report, spec: &Value, old: Option<&Value>) {
    let at = Path::new("spec");
    let (least, most) = (spec.int_given("minReplicas"), spec.int("maxReplicas"));
    let allows_zero = old.is_some_and(|old| old.int_given("minReplicas") == Some(0));
    let bound = i64::from(!allows_zero);
    if let Some(least) = least.filter(|least| *least < bound) {
        let detail = format!("must be greater than or equal to {bound}");
        e.invalid(&at.child("minReplicas"), least, detail);
    }
    let most_at = at.child("maxReplicas");
    if most < 1 {
        e.invalid(&most_at, most, "must be greater than 0");
    }
    if least.is_some_and(|least| most < least) {
        e.invalid(&most_at, most, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.part("scaleTargetRef");
    let same = |field: &str| {
        old.is_some_and(|old| old.part("scaleTargetRef").text(field) == target.text(field))
    };
    let version = if same("apiVersion") && same("kind") {
        Version::Unchecked
    } else if target.text("kind") == "ReplicationController" {
        Version::Any
    } else {
        Version::WithGroup
    };
    reference(e, &at.child("scaleTargetRef"), target, version);
    metrics(e, &at.child("metrics"), spec, least);
    let Some(behavior) = spec.some("behavior") else { return };
    let at = at.child("behavior");
    for field in ["scaleUp", "scaleDown"] {
        if let Some(rules) = behavior.some(field) {
            scaling_rules(e, &at.child(field), rules);
        }
    }
}

fn reference(e: &mut Report, at: &Path<'_>, reference: &Value, version: Version) {
    for field in ["kind", "name"] {
        e.required_form(&at.child(field), reference.text(field), format::path_segment);
    }
    let api = reference.text("apiVersion");
    let detail = match (version, api.matches('/').count()) {
        (Version::Unchecked, _) | (_, 1) | (Version::Any, 0) => return,
        (Version::WithGroup, 0) => "apiVersion must specify API group".to_owned(),
        _ => format!("unexpected GroupVersion string: {api}"),
    };
    e.invalid(&at.child("apiVersion"), api, detail);
}

fn metrics(e: &mut Report, at: &Path<'_>, spec: &Value, least: Option<i64>) {
    let mut outside = false;
    for (n, metric) in spec.list("metrics").iter().enumerate() {
        self::metric(e, &at.index(n), metric);
        outside |= matches!(metric.text("type"), "Object" | "External");
    }
    if least == Some(0) && !outside {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        e.forbidden(at, detail);
    }
}

fn metric(e: &mut Report, at: &Path<'_>, metric: &Value) {
    let of = metric.text("type");
    if of.is_empty() {
        e.required(&at.child("type"), "must specify a metric source type");
    }
    e.one_of(&at.child("type"), of, &SOURCES);
    let mut present = Vec::new();
    for field in ["object", "external", "pods", "resource", "containerResource"] {
        let Some(source) = metric.some(field) else { continue };
        present.push(field);
        if present.len() == 1 {
            self::source(e, &at.child(field), field, source);
        }
    }
    let expected = match of {
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "External" => "external",
        "ContainerResource" => "containerResource",
        other => {
            e.not_supported(&at.child("type"), other, &SOURCES);
            ""
        }
    };
    if !expected.is_empty() && !present.contains(&expected) {
        e.required(&at.child(expected), "must populate information for the given metric source");
    }
    if present.len() != 1 {
        present.sort_unstable();
        for other in present.iter().filter(|other| **other != expected) {
            e.forbidden(&at.child(other), "must populate the given metric source only");
        }
    }
}

fn source(e: &mut Report, at: &Path<'_>, kind: &str, source: &Value) {
    let target = source.part("target");
    let target_at = at.child("target");
    let has = |field: &str| target.some(field).is_some();
    match kind {
        "object" => {
            let described = source.part("describedObject");
            reference(e, &at.child("describedObject"), described, Version::Any);
        }
        "resource" | "containerResource" => {
            let name = source.text("name");
            if name.is_empty() {
                e.required(&at.child("name"), "must specify a resource name");
            } else if kind == "containerResource" {
                resources::container_name(e, &at.child("name"), name);
            }
            if kind == "containerResource" {
                let container = source.text("container");
                if container.is_empty() {
                    e.required(&at.child("container"), "must specify a container");
                } else {
                    e.form(&at.child("container"), container, format::dns_label);
                }
            }
        }
        _ => {}
    }
    if matches!(kind, "object" | "external" | "pods") {
        let name = source.part("metric").text("name");
        let at = at.child("metric");
        if name.is_empty() {
            e.required(&at.child("name"), "must specify a metric name");
        } else {
            e.form(&at.child("name"), name, format::path_segment);
        }
    }
    metric_target(e, &target_at, target);
    let average_at = target_at.child("averageValue");
    match kind {
        "object" if !has("value") && !has("averageValue") => {
            e.required(&average_at, "must set either a target value or averageValue");
        }
        "external" if !has("value") && !has("averageValue") => {
            let detail = "must set either a target value for metric or a per-pod target";
            e.required(&average_at, detail);
        }
        "external" if has("value") && has("averageValue") => {
            let detail = "may not set both a target value for metric and a per-pod target";
            e.forbidden(&target_at.child("value"), detail);
        }
        "pods" if !has("averageValue") => {
            e.required(&average_at, "must specify a positive target averageValue");
        }
        "resource" | "containerResource" => {
            match (has("averageUtilization"), has("averageValue")) {
                (false, false) => {
                    let detail = "must set either a target raw value or a target utilization";
                    e.required(&target_at.child("averageUtilization"), detail);
                }
                (true, true) => {
                    let detail = "may not set both a target raw value and a target utilization";
                    e.forbidden(&average_at, detail);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn metric_target(e: &mut Report, at: &Path<'_>, target: &Value) {
    let of = target.text("type");
    if of.is_empty() {
        e.required(&at.child("type"), "must specify a metric target type");
    }
    if !matches!(of, "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        e.invalid(&at.child("type"), of, detail);
    }
    for field in ["value", "averageValue"] {
        if let Some(value) = target.some(field)
            && !is_positive(&quantity(value))
        {
            e.invalid(&at.child(field), value.clone(), "must be positive");
        }
    }
    if let Some(percent) = target.int_given("averageUtilization").filter(|percent| *percent < 1) {
        e.invalid(&at.child("averageUtilization"), percent, "must be greater than 0");
    }
}

fn scaling_rules(e: &mut Report, at: &Path<'_>, rules: &Value) {
    if let Some(window) = rules.int_given("stabilizationWindowSeconds") {
        let at = at.child("stabilizationWindowSeconds");
        if window < 0 {
            e.invalid(&at, window, "must be greater than or equal to zero");
        }
        if window > 3600 {
            e.invalid(&at, window, "must be less than or equal to 3600");
        }
    }
    let select = rules.text_given("selectPolicy");
    e.one_of_if_given(&at.child("selectPolicy"), select, &["Disabled", "Max", "Min"]);
    let policies_at = at.child("policies");
    if rules.list("policies").is_empty() {
        e.required(&policies_at, "must specify at least one Policy");
    }
    for (n, policy) in rules.list("policies").iter().enumerate() {
        let at = policies_at.index(n);
        e.one_of(&at.child("type"), policy.text("type"), &["Percent", "Pods"]);
        e.positive(&at.child("value"), policy.int("value"));
        let period = policy.int("periodSeconds");
        e.positive(&at.child("periodSeconds"), period);
        if period > 1800 {
            e.invalid(&at.child("periodSeconds"), period, "must be less than or equal to 1800");
        }
    }
    if let Some(tolerance) = rules.some("tolerance") {
        resources::not_negative(e, &at.child("tolerance"), tolerance);
    }
}
