use flumen_schema::api::{Api, ApiKind};
use serde_json::{Value, json};

use super::{convert, stored_version};
use crate::{canonical::canonical, default};

fn kind(group: &str, version: &str, kind: &str) -> &'static ApiKind {
    Api::get().kind(group, version, kind).expect("is served")
}

fn object(kind: &ApiKind, mut object: Value) -> Value {
    object["apiVersion"] = match kind.group {
        "" => kind.version.into(),
        group => format!("{group}/{}", kind.version).into(),
    };
    object["kind"] = kind.kind.into();
    canonical(&mut object, kind.object);
    default(&mut object, kind);
    object
}

#[test]
fn two_kinds_are_stored_in_one_of_their_versions() {
    let check = |served: &'static ApiKind, expected: &ApiKind| {
        assert!(std::ptr::eq(stored_version(served), expected), "{served:?}");
    };
    let core = kind("", "v1", "Event");
    check(core, core);
    check(kind("events.k8s.io", "v1", "Event"), core);
    let v2 = kind("autoscaling", "v2", "HorizontalPodAutoscaler");
    check(kind("autoscaling", "v1", "HorizontalPodAutoscaler"), v2);
    check(v2, v2);
}

#[test]
fn events_change_their_names() {
    let (core, other) = (kind("", "v1", "Event"), kind("events.k8s.io", "v1", "Event"));
    let event = object(
        other,
        json!({
            "metadata": { "name": "e" },
            "eventTime": "2024-01-01T00:00:00.000000Z",
            "reportingController": "c",
            "regarding": { "kind": "Pod" },
            "note": "text",
            "deprecatedCount": 2,
        }),
    );
    let stored = convert(event.clone(), other, core);
    assert_eq!(
        stored,
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": { "name": "e" },
            "eventTime": "2024-01-01T00:00:00.000000Z",
            "reportingComponent": "c",
            "reportingInstance": "",
            "involvedObject": { "kind": "Pod" },
            "message": "text",
            "count": 2,
            "source": {},
            "firstTimestamp": null,
            "lastTimestamp": null,
        })
    );
    assert_eq!(convert(stored, core, other), event);
}

#[test]
fn an_autoscaler_keeps_what_its_first_version_does_not_know() {
    let v1 = kind("autoscaling", "v1", "HorizontalPodAutoscaler");
    let v2 = kind("autoscaling", "v2", "HorizontalPodAutoscaler");
    let full = object(
        v2,
        json!({
            "metadata": { "name": "a" },
            "spec": {
                "maxReplicas": 3,
                "scaleTargetRef": { "kind": "Deployment", "name": "d" },
                "metrics": [
                    { "type": "Resource", "resource": {
                        "name": "memory", "target": { "type": "AverageValue", "averageValue": "1Gi" },
                    } },
                    { "type": "External", "external": {
                        "metric": { "name": "q", "selector": { "matchLabels": { "a": "b" } } },
                        "target": { "type": "Value", "value": "3" },
                    } },
                    { "type": "Resource", "resource": {
                        "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 70 },
                    } },
                ],
                "behavior": { "scaleDown": { "stabilizationWindowSeconds": 5 } },
            },
        }),
    );
    let old = convert(full.clone(), v2, v1);
    assert_eq!(old["spec"]["targetCPUUtilizationPercentage"], 70);
    assert_eq!(
        old["metadata"]["annotations"],
        json!({
            "autoscaling.alpha.kubernetes.io/metrics":
                "[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\
                 \"targetAverageValue\":\"1Gi\"}},{\"type\":\"External\",\"external\":\
                 {\"metricName\":\"q\",\"metricSelector\":{\"matchLabels\":{\"a\":\"b\"}},\
                 \"targetValue\":\"3\"}}]",
            "autoscaling.alpha.kubernetes.io/behavior":
                "{\"ScaleUp\":{\"StabilizationWindowSeconds\":0,\"SelectPolicy\":\"Max\",\
                 \"Policies\":[{\"Type\":\"Pods\",\"Value\":4,\"PeriodSeconds\":15},\
                 {\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}],\"Tolerance\":null},\
                 \"ScaleDown\":{\"StabilizationWindowSeconds\":5,\"SelectPolicy\":\"Max\",\
                 \"Policies\":[{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}],\
                 \"Tolerance\":null}}",
        })
    );
    assert_eq!(convert(old, v1, v2), full);
}

#[test]
fn an_autoscaler_without_metrics_watches_processors() {
    let v1 = kind("autoscaling", "v1", "HorizontalPodAutoscaler");
    let v2 = kind("autoscaling", "v2", "HorizontalPodAutoscaler");
    let spec = json!({ "maxReplicas": 3, "scaleTargetRef": { "kind": "Deployment", "name": "d" } });
    let old = object(v1, json!({ "metadata": { "name": "a" }, "spec": spec }));
    let stored = convert(old, v1, v2);
    let target = "/spec/metrics/0/resource/target/averageUtilization";
    assert_eq!(stored.pointer(target), Some(&json!(80)));
    let back = convert(stored, v2, v1);
    assert_eq!(back["spec"]["targetCPUUtilizationPercentage"], 80);
    assert_eq!(back["metadata"], json!({ "name": "a" }));
}
