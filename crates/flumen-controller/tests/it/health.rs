//! Waits for health.

use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map, definition};

const READY: &str = "status: {conditions: [{type: Ready, status: 'True'}]}";
const NOT_READY: &str = "status: {conditions: [{type: Ready, status: 'False'}]}";

/// A stage with a kind of its own, whose objects say of themselves how they are.
fn start() -> Option<Stage> {
    let stage = Stage::start()?;
    stage.apply(&definition(&format!("widgets.{}.example.com", stage.namespace), "Widget"));
    Some(stage)
}

fn widget(name: &str, status: &str) -> String {
    format!(
        "apiVersion: <ns>.example.com/v1\nkind: Widget\nmetadata: {{name: {name}, namespace: <ns>}}\n{status}\n"
    )
}

/// Says something else of an object, as its controller would.
fn say(stage: &Stage, name: &str, status: &str) {
    let resource = format!("widgets.{}.example.com", stage.namespace);
    let patch = ["patch", &resource, name, "-n", &stage.namespace, "--type=merge", "-p", status];
    let outcome = stage.cluster.kubectl(&patch);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
}

#[test]
fn what_was_well_at_first_sight_must_be_well_in_the_end() {
    let Some(stage) = start() else { return };
    stage.push(&[("a.yaml", &widget("early", "")), ("b.yaml", &widget("late", NOT_READY))]);
    stage.source();
    stage.kustomization("app", &json!({"wait": true, "timeout": "10s"}));
    stage.until_object("Kustomization", "app", |object| {
        condition(object, "Healthy")["status"] == "Unknown"
    });
    say(&stage, "early", NOT_READY);
    say(&stage, "late", READY);
    let message = stage.until_failed("app", "HealthCheckFailed");
    assert!(message.contains("Widget") && message.contains("/early"), "{message}");
    assert!(!message.contains("/late"), "{message}");
}

#[test]
fn what_recovers_is_said_to_be_healthy() {
    let Some(stage) = start() else { return };
    stage.push(&[("a.yaml", &widget("one", "")), ("b.yaml", &config_map("two", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"wait": true, "timeout": "3s", "retryInterval": "10m"}));
    stage.until_ready("app");
    say(&stage, "one", NOT_READY);
    stage.request("Kustomization", "app");
    stage.until_failed("app", "HealthCheckFailed");
    say(&stage, "one", READY);
    stage.request("Kustomization", "app");
    let object: Value = stage.until_ready("app");
    assert_eq!(condition(&object, "Healthy")["status"], "True", "{object:#}");
}

#[test]
fn a_finished_job_that_the_cluster_deletes_is_no_drift() {
    let Some(stage) = Stage::start() else { return };
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: <ns>}\n\
               spec: {ttlSecondsAfterFinished: 600, template: {spec: {restartPolicy: Never, \
               containers: [{name: a, image: a}]}}}\n";
    stage.push(&[("a.yaml", job), ("b.yaml", &config_map("two", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let namespace = &stage.namespace;
    let done = json!({"status": {
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z", "succeeded": 1,
        "conditions": [
            {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"},
        ],
    }});
    let done = done.to_string();
    let finish =
        ["patch", "job/once", "-n", namespace, "--subresource=status", "--type=merge", "-p", &done];
    let delete = ["delete", "job/once", "-n", namespace, "--cascade=orphan"];
    for arguments in [&finish[..], &delete[..]] {
        let outcome = stage.cluster.kubectl(arguments);
        assert!(outcome.succeeded(), "{}", outcome.stderr);
    }
    // Drift of another object is corrected later, and that pass applies everything; so nothing else may bring it back.
    let source = stage.request("OCIRepository", "app");
    stage.until_object("OCIRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == source
    });
    let outcome = stage.cluster.kubectl(&["get", "job/once", "-n", namespace]);
    assert!(!outcome.succeeded(), "it is not run again: {}", outcome.stdout);
    stage.request("Kustomization", "app");
    Stage::until("the next pass runs it again", || {
        stage.cluster.kubectl(&["get", "job/once", "-n", namespace]).succeeded().then_some(())
    });
}
