//! Autoscalers: the first version knows one metric, the use of processors. All that it does not know
//! is kept in annotations.

mod metric;

use serde_json::{Map, Value, json};

use crate::read::Read as _;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const TOLERANCES: [&str; 2] = [
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
];

/// The use of processors that is aimed at if nothing is said, in percent.
const DEFAULT_UTILIZATION: u8 = 80;

/// Removes the annotations that stand for fields of a later version.
pub(crate) fn drop_annotations(autoscaler: &mut Value) {
    let Some(Value::Object(metadata)) = autoscaler.get_mut("metadata") else { return };
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        let ours = [METRICS, CURRENT_METRICS, BEHAVIOR, CONDITIONS];
        annotations
            .retain(|key, _| !ours.contains(&key.as_str()) && !TOLERANCES.contains(&key.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// Whether a metric is the one that the first version has a field for.
fn is_processor(metric: &Value) -> bool {
    metric.text("type") == "Resource" && metric.part("resource").text("name") == "cpu"
}

fn utilization<'a>(metric: &'a Value, part: &str) -> Option<&'a Value> {
    is_processor(metric).then(|| metric.part("resource").part(part).some("averageUtilization"))?
}

pub(super) fn to_v1(mut autoscaler: Value) -> Value {
    drop_annotations(&mut autoscaler);
    let mut annotations = Map::new();
    let mut annotate = |name: &str, text: String| annotations.insert(name.to_owned(), text.into());

    let metrics = autoscaler.part("spec").list("metrics");
    let target = metrics.iter().find_map(|metric| utilization(metric, "target")).cloned();
    let others = metrics.iter().filter(|metric| utilization(metric, "target").is_none());
    let others: Vec<String> = others.map(metric::source_to_v1).collect();
    if !others.is_empty() {
        annotate(METRICS, format!("[{}]", others.join(",")));
    }
    let current = autoscaler.part("status").list("currentMetrics");
    let used = current.iter().filter_map(|metric| utilization(metric, "current")).next_back();
    let used = used.cloned();
    let current: Vec<String> = current.iter().map(metric::status_to_v1).collect();
    if !current.is_empty() {
        annotate(CURRENT_METRICS, format!("[{}]", current.join(",")));
    }
    if let Some(behavior) = autoscaler.part("spec").some("behavior") {
        annotate(BEHAVIOR, metric::behavior_to_text(behavior));
    }
    let conditions = autoscaler.part("status").list("conditions");
    let conditions: Vec<String> = conditions.iter().map(metric::condition_to_text).collect();
    if !conditions.is_empty() {
        annotate(CONDITIONS, format!("[{}]", conditions.join(",")));
    }

    if let Some(target) = target {
        autoscaler["spec"]["targetCPUUtilizationPercentage"] = target;
    }
    if let Some(used) = used {
        autoscaler["status"]["currentCPUUtilizationPercentage"] = used;
    }
    for (name, text) in annotations {
        autoscaler["metadata"]["annotations"][name] = text;
    }
    // What the first version has no fields for goes when the object is made canonical.
    autoscaler
}

pub(super) fn to_v2(mut autoscaler: Value) -> Value {
    let noted = |name: &str| -> Option<Value> {
        let annotations = autoscaler.part("metadata").map("annotations");
        serde_json::from_str(annotations.get(name)?.as_str()?).ok()
    };
    let mut metrics: Vec<Value> = match noted(METRICS) {
        Some(Value::Array(metrics)) => metrics.iter().map(metric::source_to_v2).collect(),
        _ => Vec::new(),
    };
    let processor = |part: &str, value: Value| json!({ "type": "Resource", "resource": { "name": "cpu", part: value } });
    if let Some(target) = autoscaler.part("spec").some("targetCPUUtilizationPercentage") {
        let target = json!({ "type": "Utilization", "averageUtilization": target });
        metrics.push(processor("target", target));
    }
    if metrics.is_empty() {
        // The first version has this default, and knows only here that there are no others.
        let target = json!({ "type": "Utilization", "averageUtilization": DEFAULT_UTILIZATION });
        metrics.push(processor("target", target));
    }
    let used = autoscaler.part("status").some("currentCPUUtilizationPercentage");
    let current: Vec<Value> = match (noted(CURRENT_METRICS), used) {
        (Some(Value::Array(metrics)), _) => metrics.iter().map(metric::status_to_v2).collect(),
        (_, Some(used)) => vec![processor("current", json!({ "averageUtilization": used }))],
        _ => Vec::new(),
    };
    let behavior = noted(BEHAVIOR).map(metric::behavior_from_text);
    let conditions = noted(CONDITIONS);

    autoscaler["spec"]["metrics"] = metrics.into();
    autoscaler["status"]["currentMetrics"] = current.into();
    if let Some(behavior) =
        behavior.filter(|behavior| behavior.as_object().is_some_and(|b| !b.is_empty()))
    {
        autoscaler["spec"]["behavior"] = behavior;
    }
    if let Some(conditions) = conditions {
        autoscaler["status"]["conditions"] = conditions;
    }
    drop_annotations(&mut autoscaler);
    autoscaler
}
