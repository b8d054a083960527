//! Waits for health.

use serde_json::json;

use crate::fixture::{Stage, condition, config_map, definition};

const READY: &str = "status: {conditions: [{type: Ready, status: 'True'}]}";
const NOT_READY: &str = "status: {conditions: [{type: Ready, status: 'False'}]}";

/// A stage with a kind of its own, whose objects say of themselves how they are.
fn start() -> Option<Stage> {
    let stage = Stage::start()?;
    let mut widgets = definition(&format!("widgets.{}.example.com", stage.namespace), "Widget");
    widgets["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    stage.apply(&widgets);
    Some(stage)
}

fn widget(name: &str) -> String {
    format!(
        "apiVersion: <ns>.example.com/v1\nkind: Widget\nmetadata: {{name: {name}, namespace: <ns>}}\n"
    )
}

/// Says something else of an object, as its controller would.
fn say(stage: &Stage, name: &str, status: &str) {
    let resource = format!("widgets.{}.example.com", stage.namespace);
    let name = format!("{resource}/{name}");
    let what = ["patch", &name, "-n", &stage.namespace, "--subresource=status"];
    let patch = [&what[..], &["--type=merge", "-p", status]].concat();
    let outcome = stage.cluster.kubectl(&patch);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
}

#[test]
fn what_was_well_at_first_sight_must_be_well_in_the_end() {
    let Some(stage) = start() else { return };
    stage.push(&[("a.yaml", &widget("early"))]);
    stage.source();
    let check = |api_version: &str, kind: &str, name: &str| {
        let namespace = &stage.namespace;
        json!({"apiVersion": api_version, "kind": kind, "name": name, "namespace": namespace})
    };
    let widgets = format!("{}.example.com/v1", stage.namespace);
    let checks = [check(&widgets, "Widget", "early"), check("v1", "ConfigMap", "late")];
    stage.kustomization("app", &json!({"healthChecks": checks, "timeout": "30s"}));
    stage.until_object("Kustomization", "app", |object| {
        condition(object, "Healthy")["status"] == "Unknown"
    });
    say(&stage, "early", NOT_READY);
    stage.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "late", "namespace": stage.namespace},
    }));
    let message = stage.until_failed("app", "HealthCheckFailed");
    assert!(message.contains("/early"), "{message}");
    assert!(!message.contains("/late"), "{message}");
}

#[test]
fn what_recovers_is_said_to_be_healthy() {
    let Some(stage) = start() else { return };
    stage.push(&[("a.yaml", &widget("one")), ("b.yaml", &config_map("two", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"wait": true, "timeout": "10s", "retryInterval": "10m"}));
    stage.until_ready("app");
    // A pass may come before the news of the object.
    let asked_until = |status: &str| {
        Stage::until("a pass has seen it", || {
            let at = stage.request("Kustomization", "app");
            let object = stage.until_object("Kustomization", "app", |object| {
                object["status"]["lastHandledReconcileAt"] == at
                    && condition(object, "Ready")["status"] != "Unknown"
            });
            (condition(&object, "Ready")["status"] == status).then_some(object)
        })
    };
    say(&stage, "one", NOT_READY);
    asked_until("False");
    say(&stage, "one", READY);
    let object = asked_until("True");
    assert_eq!(condition(&object, "Healthy")["status"], "True", "{object:#}");
}

#[test]
fn a_finished_job_that_the_cluster_deletes_is_no_drift() {
    let Some(stage) = Stage::start() else { return };
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: <ns>}\n\
               spec: {suspend: true, ttlSecondsAfterFinished: 600, template: {spec: {restartPolicy: Never, \
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
    let outcome = stage.cluster.kubectl(&finish);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let delete = ["delete", "job/once", "-n", namespace, "--cascade=orphan"];
    let outcome = stage.cluster.kubectl(&delete);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    // Drift of another object is corrected later, and that pass applies everything; so nothing else may bring it back.
    let source = stage.request("OCIRepository", "app");
    stage.until_object("OCIRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == source
    });
    let outcome = stage.cluster.kubectl(&["get", "job/once", "-n", namespace]);
    assert!(!outcome.succeeded(), "it is not run again");
    stage.request("Kustomization", "app");
    Stage::until("the next pass runs it again", || {
        stage.cluster.kubectl(&["get", "job/once", "-n", namespace]).succeeded().then_some(())
    });
}
