//! Pods over time, with a clock that is set.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::{Settings, clock::seconds_later, object::condition, plan::Told, world::World};

fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

fn pod(annotations: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web", "namespace": "n", "uid": "u1", "resourceVersion": "1", "generation": 1,
            "annotations": annotations,
        },
        "spec": {
            "nodeName": "flumen",
            "restartPolicy": "Always",
            "containers": [{"name": "app", "image": "img:1"}],
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    })
}

/// What a pod is after some seconds on its node, if it is looked at every second.
fn after(mut pod: Value, seconds: i64) -> (Value, Vec<&'static str>) {
    let settings = Settings {
        pace: crate::Pace { start: Duration::from_secs(1), run: Duration::from_secs(2) },
        ..Settings::default()
    };
    let mut world = World::default();
    world.place("u1", start());
    let mut told = Vec::new();
    for second in 0..=seconds {
        let now = seconds_later(start(), second);
        let plan = decide(Context { world: &world, now, settings: &settings }, &pod);
        for action in plan.actions {
            match action {
                Action::ReplaceStatus { object, .. } => pod = object,
                Action::Tell(Told { reason, .. }) => told.push(reason),
                other => panic!("{other:?}"),
            }
        }
    }
    (pod, told)
}

#[test]
fn a_pod_becomes_ready_with_all_conditions_in_order() {
    let (pod, told) = after(pod(&json!({})), 1);
    assert_eq!(told, ["Pulled", "Created", "Started"]);
    assert_eq!(text(&pod, "/status/phase"), "Running");
    assert_eq!(text(&pod, "/status/startTime"), "2026-01-01T00:00:00Z");
    assert_eq!(text(&pod, "/status/qosClass"), "BestEffort");
    assert_eq!(annotation(&pod, SIMULATED), Some("true"));
    let types: Vec<&str> =
        items(&pod, "/status/conditions").iter().map(|c| text(c, "/type")).collect();
    let order =
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    assert_eq!(types, order);
    assert!(object::is_true(&pod, "Ready"));
    let started = text(&pod, "/status/containerStatuses/0/state/running/startedAt");
    assert_eq!(started, "2026-01-01T00:00:01Z");
}

#[test]
fn nothing_is_written_twice() {
    let (once, _) = after(pod(&json!({})), 1);
    let (longer, told) = after(pod(&json!({})), 60);
    assert_eq!(once, longer);
    assert_eq!(told.len(), 3);
}

#[test]
fn a_pod_that_never_is_ready_says_which_containers() {
    let (pod, _) = after(pod(&json!({"sim.flumen.dev/never-ready": "true"})), 30);
    assert_eq!(text(&pod, "/status/phase"), "Running");
    let ready = condition(&pod, "Ready").expect("a condition");
    assert_eq!(text(ready, "/reason"), "ContainersNotReady");
    assert_eq!(text(ready, "/message"), "containers with unready status: [app]");
}

#[test]
fn a_crash_loop_counts_restarts() {
    let (pod, told) = after(pod(&json!({"sim.flumen.dev/crash-loop": "true"})), 12);
    let status = &pod["status"]["containerStatuses"][0];
    assert_eq!(number(status, "/restartCount"), 2);
    assert_eq!(text(status, "/state/waiting/reason"), "CrashLoopBackOff");
    let message = "back-off 20s restarting failed container=app pod=web_n(u1)";
    assert_eq!(text(status, "/state/waiting/message"), message);
    assert_eq!(number(status, "/lastState/terminated/exitCode"), 1);
    assert_eq!(told.iter().filter(|reason| **reason == "BackOff").count(), 2);
}

#[test]
fn an_image_that_is_missing_keeps_the_pod_pending() {
    let (pod, told) = after(pod(&json!({"sim.flumen.dev/image-pull-error": "true"})), 5);
    assert_eq!(text(&pod, "/status/phase"), "Pending");
    let reason = text(&pod, "/status/containerStatuses/0/state/waiting/reason");
    assert_eq!(reason, "ImagePullBackOff");
    assert_eq!(told, ["Pulling", "Failed", "Failed", "BackOff", "Failed"]);
}

#[test]
fn a_pod_that_is_to_end_succeeds_or_fails() {
    let mut job = pod(&json!({}));
    job["spec"]["restartPolicy"] = "Never".into();
    let (done, _) = after(job.clone(), 5);
    assert_eq!(text(&done, "/status/phase"), "Succeeded");
    assert_eq!(text(condition(&done, "Ready").expect("a condition"), "/reason"), "PodCompleted");
    let state = &done["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(text(state, "/startedAt"), "2026-01-01T00:00:01Z");
    assert_eq!(text(state, "/finishedAt"), "2026-01-01T00:00:03Z");
    object::annotate(&mut job, "sim.flumen.dev/job-fail", "true");
    let (failed, _) = after(job, 5);
    assert_eq!(text(&failed, "/status/phase"), "Failed");
    let state = &failed["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(number(state, "/exitCode"), 1);
}

#[test]
fn readiness_gates_hold_a_pod_back() {
    let mut gated = pod(&json!({}));
    gated["spec"]["readinessGates"] = json!([{"conditionType": "example.com/x"}]);
    let (mut gated, _) = after(gated, 2);
    assert!(!object::is_true(&gated, "Ready"));
    let conditions = gated["status"]["conditions"].as_array_mut().expect("conditions");
    conditions.push(json!({"type": "example.com/x", "status": "True"}));
    let (open, _) = after(gated, 3);
    assert!(object::is_true(&open, "Ready"));
    assert!(condition(&open, "example.com/x").is_some());
}

#[test]
fn a_pod_waits_for_its_claims() {
    let mut pod = pod(&json!({}));
    pod["spec"]["nodeName"] = "".into();
    pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
    let settings = Settings::default();
    let mut world = World::default();
    let decided =
        |world: &World| decide(Context { world, now: start(), settings: &settings }, &pod);
    let plan = decided(&world);
    assert!(matches!(&plan.actions[0], Action::Tell(told) if told.reason == "FailedScheduling"));
    let claim = json!({
        "metadata": {"name": "c", "namespace": "n", "resourceVersion": "1"},
        "status": {"phase": "Bound"},
    });
    world.put(Kind::PersistentVolumeClaim, claim);
    assert!(matches!(&decided(&world).actions[0], Action::Bind { node, .. } if node == "flumen"));
}

#[test]
fn a_deleted_pod_is_let_go_once() {
    let mut pod = pod(&json!({}));
    object::set(&mut pod, "/metadata/deletionTimestamp", "2026-01-01T00:00:30Z");
    object::set(&mut pod, "/metadata/deletionGracePeriodSeconds", 30);
    let plan = end(&pod);
    assert!(matches!(plan.actions.last(), Some(Action::Delete { grace: Some(0), .. })));
    object::set(&mut pod, "/metadata/deletionGracePeriodSeconds", 0);
    assert_eq!(end(&pod), Plan::none());
}
