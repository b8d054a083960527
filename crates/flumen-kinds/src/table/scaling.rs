//! Cells of a horizontal pod autoscaler.

use serde_json::Value;

use super::object::Object;

const UNKNOWN: &str = "<unknown>";

/// How many metrics are printed before they are only counted.
const SHOWN: usize = 2;

pub(super) fn reference(autoscaler: Object<'_>) -> Value {
    let kind = autoscaler.text("spec.scaleTargetRef.kind");
    format!("{kind}/{}", autoscaler.text("spec.scaleTargetRef.name")).into()
}

pub(super) fn min_pods(autoscaler: Object<'_>) -> Value {
    autoscaler.at("spec.minReplicas").map_or_else(|| "<unset>".to_owned(), Value::to_string).into()
}

/// What is measured and what is wished, metric by metric.
pub(super) fn targets(autoscaler: Object<'_>) -> Value {
    // Version 1 knows one metric only.
    if let Some(wished) = autoscaler.at("spec.targetCPUUtilizationPercentage") {
        let current = percent(autoscaler.at("status.currentCPUUtilizationPercentage"), UNKNOWN);
        return format!("cpu: {current}/{wished}%").into();
    }
    let count = autoscaler.count("spec.metrics");
    if count == 0 {
        return "<none>".into();
    }
    let mut statuses = autoscaler.items("status.currentMetrics");
    let metrics: Vec<String> = autoscaler
        .items("spec.metrics")
        .take(SHOWN)
        .map(|metric| target(metric, statuses.next()))
        .collect();
    let metrics = metrics.join(", ");
    if count > SHOWN {
        return format!("{metrics} + {} more...", count - SHOWN).into();
    }
    metrics.into()
}

fn target(metric: Object<'_>, status: Option<Object<'_>>) -> String {
    let source = match metric.text("type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let Some(spec) = metric.part(source) else {
        return "<unknown type>".to_owned();
    };
    let status = status.and_then(|status| status.part(source));
    let current =
        |path: &str| status.map_or_else(|| UNKNOWN.to_owned(), |status| status.quantity(path));
    let by_average = spec.has("target.averageValue");
    let wished = spec.quantity("target.averageValue");
    match source {
        "pods" => format!("{}/{wished}", current("current.averageValue")),
        "external" | "object" if by_average => match status {
            Some(status) if !status.has("current.averageValue") => {
                format!("{UNKNOWN}/{wished} (avg)")
            }
            _ => format!("{}/{wished} (avg)", current("current.averageValue")),
        },
        "external" | "object" => {
            format!("{}/{}", current("current.value"), spec.quantity("target.value"))
        }
        _ if by_average => {
            format!("{}: {}/{wished}", spec.text("name"), current("current.averageValue"))
        }
        _ => {
            let current = status.and_then(|status| status.at("current.averageUtilization"));
            let wished = percent(spec.at("target.averageUtilization"), "<auto>");
            format!("{}: {}/{wished}", spec.text("name"), percent(current, UNKNOWN))
        }
    }
}

fn percent(number: Option<&Value>, other: &str) -> String {
    number.map_or_else(|| other.to_owned(), |number| format!("{number}%"))
}

/// The replicas of the scale of a custom resource, which says nothing for none.
pub(super) fn desired(scale: Object<'_>) -> Value {
    scale.at("spec.replicas").cloned().unwrap_or(Value::Null)
}
