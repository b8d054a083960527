//! Metrics in both versions. The text of the first one has its fields in the order of Go.

use flumen_schema::api::Api;
use serde_json::{Map, Value, json};

use crate::{go_json, read::Read as _};

/// A field of the first version, where it is in the second, and whether it is there if it is not.
struct Place(&'static str, &'static str, bool);

const GIVEN: bool = false;
const ALWAYS: bool = true;

const SOURCES: [(&str, &[Place]); 5] = [
    (
        "object",
        &[
            Place("target", "/describedObject", GIVEN),
            Place("metricName", "/metric/name", GIVEN),
            Place("targetValue", "/target/value", ALWAYS),
            Place("selector", "/metric/selector", GIVEN),
            Place("averageValue", "/target/averageValue", GIVEN),
        ],
    ),
    (
        "pods",
        &[
            Place("metricName", "/metric/name", GIVEN),
            Place("targetAverageValue", "/target/averageValue", ALWAYS),
            Place("selector", "/metric/selector", GIVEN),
        ],
    ),
    (
        "resource",
        &[
            Place("name", "/name", GIVEN),
            Place("targetAverageUtilization", "/target/averageUtilization", GIVEN),
            Place("targetAverageValue", "/target/averageValue", GIVEN),
        ],
    ),
    (
        "containerResource",
        &[
            Place("name", "/name", GIVEN),
            Place("targetAverageUtilization", "/target/averageUtilization", GIVEN),
            Place("targetAverageValue", "/target/averageValue", GIVEN),
            Place("container", "/container", GIVEN),
        ],
    ),
    (
        "external",
        &[
            Place("metricName", "/metric/name", GIVEN),
            Place("metricSelector", "/metric/selector", GIVEN),
            Place("targetValue", "/target/value", GIVEN),
            Place("targetAverageValue", "/target/averageValue", GIVEN),
        ],
    ),
];

const STATUSES: [(&str, &[Place]); 5] = [
    (
        "object",
        &[
            Place("target", "/describedObject", GIVEN),
            Place("metricName", "/metric/name", GIVEN),
            Place("currentValue", "/current/value", ALWAYS),
            Place("selector", "/metric/selector", GIVEN),
            Place("averageValue", "/current/averageValue", GIVEN),
        ],
    ),
    (
        "pods",
        &[
            Place("metricName", "/metric/name", GIVEN),
            Place("currentAverageValue", "/current/averageValue", ALWAYS),
            Place("selector", "/metric/selector", GIVEN),
        ],
    ),
    (
        "resource",
        &[
            Place("name", "/name", GIVEN),
            Place("currentAverageUtilization", "/current/averageUtilization", GIVEN),
            Place("currentAverageValue", "/current/averageValue", ALWAYS),
        ],
    ),
    (
        "containerResource",
        &[
            Place("name", "/name", GIVEN),
            Place("currentAverageUtilization", "/current/averageUtilization", GIVEN),
            Place("currentAverageValue", "/current/averageValue", ALWAYS),
            Place("container", "/container", GIVEN),
        ],
    ),
    (
        "external",
        &[
            Place("metricName", "/metric/name", GIVEN),
            Place("metricSelector", "/metric/selector", GIVEN),
            Place("currentValue", "/current/value", ALWAYS),
            Place("currentAverageValue", "/current/averageValue", GIVEN),
        ],
    ),
];

pub(super) fn source_to_v1(metric: &Value) -> String {
    to_v1(metric, &SOURCES)
}

pub(super) fn status_to_v1(metric: &Value) -> String {
    to_v1(metric, &STATUSES)
}

fn to_v1(metric: &Value, kinds: &[(&str, &[Place])]) -> String {
    let mut members = vec![member("type", &metric["type"])];
    for (kind, places) in kinds {
        let Some(source) = metric.some(kind) else { continue };
        let fields: Vec<String> = places
            .iter()
            .filter_map(|Place(field, pointer, is_always)| {
                match source.pointer(pointer).filter(|value| !value.is_null()) {
                    Some(value) => Some(member(field, value)),
                    None => is_always.then(|| member(field, &json!("0"))),
                }
            })
            .collect();
        members.push(format!("\"{kind}\":{{{}}}", fields.join(",")));
    }
    format!("{{{}}}", members.join(","))
}

fn member(name: &str, value: &Value) -> String {
    let text = match name {
        "selector" | "metricSelector" => {
            in_go_order(value, "apimachinery.pkg.apis.meta.v1.LabelSelector")
        }
        "target" => in_go_order(value, "api.autoscaling.v2.CrossVersionObjectReference"),
        _ => value.to_string(),
    };
    format!("\"{name}\":{text}")
}

pub(super) fn condition_to_text(condition: &Value) -> String {
    in_go_order(condition, "api.autoscaling.v2.HorizontalPodAutoscalerCondition")
}

/// A value as JSON with its fields in the order of its type.
fn in_go_order(value: &Value, of: &str) -> String {
    go_json(value, Api::get().type_named(of), &Value::Null)
}

/// The server writes its own type here, whose fields have no other names than in Go.
pub(super) fn behavior_to_text(behavior: &Value) -> String {
    let rules = |name: &str| {
        let Some(rules) = behavior.some(name) else { return "null".to_owned() };
        let policies: Vec<String> = rules
            .list("policies")
            .iter()
            .map(|policy| {
                let (kind, value, period) =
                    (&policy["type"], &policy["value"], &policy["periodSeconds"]);
                format!("{{\"Type\":{kind},\"Value\":{value},\"PeriodSeconds\":{period}}}")
            })
            .collect();
        format!(
            "{{\"StabilizationWindowSeconds\":{},\"SelectPolicy\":{},\"Policies\":[{}],\
             \"Tolerance\":{}}}",
            rules["stabilizationWindowSeconds"],
            rules["selectPolicy"],
            policies.join(","),
            rules["tolerance"],
        )
    };
    format!("{{\"ScaleUp\":{},\"ScaleDown\":{}}}", rules("scaleUp"), rules("scaleDown"))
}

pub(super) fn behavior_from_text(text: Value) -> Value {
    match text {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            let members = members.map(|(name, value)| {
                let mut chars = name.chars();
                let first = chars.next().map(|first| first.to_ascii_lowercase());
                (first.into_iter().chain(chars).collect(), behavior_from_text(value))
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => items.into_iter().map(behavior_from_text).collect(),
        other => other,
    }
}

pub(super) fn source_to_v2(metric: &Value) -> Value {
    let mut metric = to_v2(metric, &SOURCES);
    for (kind, _) in &SOURCES {
        if let Some(target) = metric.pointer_mut(&format!("/{kind}/target")) {
            let has = |name: &str| target.some(name).is_some();
            let of = match *kind {
                "resource" | "containerResource" if has("averageUtilization") => "Utilization",
                "object" if !has("averageValue") => "Value",
                "external" if has("value") => "Value",
                _ => "AverageValue",
            };
            target["type"] = of.into();
        }
    }
    metric
}

pub(super) fn status_to_v2(metric: &Value) -> Value {
    to_v2(metric, &STATUSES)
}

fn to_v2(metric: &Value, kinds: &[(&str, &[Place])]) -> Value {
    let mut members = Map::new();
    members.insert("type".to_owned(), metric["type"].clone());
    for (kind, places) in kinds {
        let Some(source) = metric.some(kind) else { continue };
        let mut found = json!({});
        for Place(field, pointer, _) in *places {
            let Some(value) = source.some(field) else { continue };
            match pointer.trim_start_matches('/').split_once('/') {
                Some((outer, inner)) => found[outer][inner] = value.clone(),
                None => found[pointer.trim_start_matches('/')] = value.clone(),
            }
        }
        members.insert((*kind).to_owned(), found);
    }
    Value::Object(members)
}
