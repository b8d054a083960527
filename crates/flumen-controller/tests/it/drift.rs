//! Objects that somebody else changes.

use flumen_controller::Options;
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

const MODE: &str = "kustomize.toolkit.fluxcd.io/drift";

fn set_mode(stage: &Stage, mode: &Value) {
    let annotations = json!({ MODE: mode });
    stage.patch("Kustomization", "app", &json!({"metadata": {"annotations": annotations}}));
}

fn until_said(stage: &Stage, reason: &str) -> String {
    let object = stage.until_object("Kustomization", "app", |object| {
        condition(object, "Drifted")["reason"] == reason
    });
    condition(&object, "Drifted")["message"].as_str().expect("a message").to_owned()
}

fn until_event(stage: &Stage, reason: &str) -> Value {
    Stage::until(&format!("an event tells of {reason}"), || {
        let events = stage.events("Kustomization", "app");
        events.into_iter().find(|event| event["reason"] == reason)
    })
}

#[test]
fn drift_is_reported_and_left_when_that_is_asked_for() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1")), ("two.yaml", &config_map("two", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    set_mode(&stage, &json!("report"));
    // The two watches are in no order: a change of the object may be seen before the mode.
    let at = stage.request("Kustomization", "app");
    stage.until_object("Kustomization", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "mine"}}));
    let message = until_said(&stage, "DriftDetected");
    let one =
        format!("ConfigMap/{}/one (changed by somebody) is not as in revision", stage.namespace);
    assert!(message.starts_with(&one), "{message}");
    assert!(message.contains(MODE), "it says what to do: {message}");
    assert_eq!(until_event(&stage, "DriftDetected")["type"], "Warning");
    // A pass that somebody asks for leaves it, too.
    let at = stage.request("Kustomization", "app");
    let object = stage.until_object("Kustomization", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    assert_eq!(condition(&object, "Ready")["status"], "True");
    assert_eq!(stage.get("ConfigMap", "one").expect("it is there")["data"]["key"], "mine");

    // What is put back is told as well.
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "mine", "other": "x"}}));
    stage.delete("ConfigMap", "two");
    stage.until_object("Kustomization", "app", |object| {
        let message = condition(object, "Drifted")["message"].as_str().unwrap_or_default();
        message.contains("/two (deleted) are not as in revision")
    });
    assert!(stage.get("ConfigMap", "two").is_none());

    // A new revision is applied.
    stage.push(&[("one.yaml", &config_map("one", "2")), ("two.yaml", &config_map("two", "2"))]);
    stage.request("OCIRepository", "app");
    stage.until_object("ConfigMap", "two", |object| object["data"]["key"] == "2");
    stage.until_object("Kustomization", "app", |object| condition(object, "Drifted").is_null());

    // And so is everything when the mode changes.
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "mine"}}));
    until_said(&stage, "DriftDetected");
    set_mode(&stage, &Value::Null);
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "2");
    stage.until_object("Kustomization", "app", |object| condition(object, "Drifted").is_null());
}

#[test]
fn a_mode_that_nobody_knows_stops_the_kustomization_and_says_so() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    set_mode(&stage, &json!("r\u{e9}port\n"));
    let message = stage.until_failed("app", "InvalidAnnotation");
    let text = "annotation kustomize.toolkit.fluxcd.io/drift is \"r\u{e9}port\\n\": \
                use \"report\" or \"correct\", or remove it";
    assert_eq!(message, text);
    set_mode(&stage, &json!("correct"));
    stage.until_ready("app");
}

#[test]
fn an_object_that_two_fight_for_is_left_until_the_interval() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    for round in 0..3 {
        let theirs = format!("theirs {round}");
        stage.patch("ConfigMap", "one", &json!({"data": {"key": theirs}}));
        stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
    }
    let message = until_said(&stage, "TugOfWar");
    let one = format!("ConfigMap/{}/one is changed again and again by somebody", stage.namespace);
    assert!(message.starts_with(&one), "{message}");
    assert!(message.contains("only every 10m0s"), "{message}");
    assert_eq!(until_event(&stage, "TugOfWar")["message"], message);

    stage.patch("ConfigMap", "one", &json!({"data": {"key": "theirs"}}));
    // Another object of the same kind shows that the watch has told of both by now.
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "theirs to stay"}}));
    let at = stage.request("OCIRepository", "app");
    stage.until_object("OCIRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    assert_eq!(
        stage.get("ConfigMap", "one").expect("it is there")["data"]["key"],
        "theirs to stay"
    );

    // The interval is over, or somebody asks: it is set back, and still fought for.
    stage.request("Kustomization", "app");
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
    // Nobody has touched it since, so it is over.
    stage.request("Kustomization", "app");
    stage.until_object("Kustomization", "app", |object| condition(object, "Drifted").is_null());
}

#[test]
fn a_field_that_was_taken_while_nobody_looked_is_looked_at_by_every_pass() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let suspend = |suspend: bool| {
        stage.patch("Kustomization", "app", &json!({"spec": {"suspend": suspend}}));
    };
    let pass = || {
        let at = stage.request("Kustomization", "app");
        stage.until_object("Kustomization", "app", |object| {
            object["status"]["lastHandledReconcileAt"] == at
        });
    };
    suspend(true);
    pass();
    for value in ["theirs", "1"] {
        stage.patch("ConfigMap", "one", &json!({"data": {"key": value}}));
    }
    suspend(false);
    pass();
    // The field is somebody's now, so that what is ours does not tell of this change.
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "theirs again"}}));
    pass();
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
}

#[test]
fn what_somebody_left_in_an_object_is_taken_over_although_the_object_is_refused() {
    let Some(stage) = Stage::prepare() else { return };
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let push = |containers: &Value| {
        let deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "app", "namespace": "<ns>"},
            "spec": {
                "selector": {"matchLabels": {"app": "app"}},
                "template": {
                    "metadata": {"labels": {"app": "app"}},
                    "spec": {"containers": containers},
                },
            },
        });
        stage.push(&[("app.yaml", &deployment.to_string())]);
    };
    let until = |options: Options, containers: &Value| {
        let (end, thread) = stage.controller(options);
        stage.until_object("Deployment", "app", |object| {
            let found = object["spec"]["template"]["spec"]["containers"].as_array();
            let found = found.into_iter().flatten();
            let found: Vec<Value> =
                found.map(|one| json!({"name": one["name"], "image": one["image"]})).collect();
            json!(found) == *containers
        });
        stage.until_ready("app");
        end.send(()).expect("it runs");
        thread.join().expect("it ends in order");
    };
    let both = json!([container("main", "a"), container("side", "a")]);
    push(&both);
    stage.source();
    stage.kustomization("app", &json!({"wait": false}));
    until(stage.options(), &both);

    // Somebody removes a container and puts it back. What we set again is its image, and the rest stays theirs.
    for containers in
        [json!([container("main", "a")]), json!([container("main", "a"), container("side", "b")])]
    {
        let template = json!({"spec": {"containers": containers}});
        stage.patch("Deployment", "app", &json!({"spec": {"template": template}}));
    }
    until(stage.options(), &both);

    // The rest alone is no container, so that nobody can give up the image.
    let main = json!([container("main", "a")]);
    push(&main);
    stage.request("OCIRepository", "app");
    let mut options = stage.options();
    options.kustomize.override_managers_before_dry_run = vec!["somebody".to_owned()];
    until(options, &main);
}
