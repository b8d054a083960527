//! One object that cannot be read is its own failure.

use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

/// A definition lets it pass, and it is more than a duration can be.
const TOO_LONG: &str = "99999999999h";

/// Waits until an object is told what is wrong with it.
fn until_told(stage: &Stage, kind: &str, name: &str) -> Value {
    let object = stage.until_object(kind, name, |object| {
        condition(object, "Ready")["reason"] == "MalformedObject"
    });
    let message = format!(
        "{kind} {}/{name} is malformed: spec.interval: time: invalid duration \"{TOO_LONG}\"; nothing is \
         done until it is corrected",
        stage.namespace
    );
    for (r#type, status) in [("Ready", "False"), ("Stalled", "True")] {
        let condition = condition(&object, r#type);
        assert_eq!(condition["status"], status);
        assert_eq!(condition["message"], message);
    }
    assert_eq!(object["status"]["observedGeneration"], object["metadata"]["generation"]);
    let events = Stage::until("the event is there", || {
        let events = stage.events(kind, name);
        (!events.is_empty()).then_some(events)
    });
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["message"], message);
    assert_eq!(events[0]["type"], "Warning");
    object
}

#[test]
fn a_malformed_kustomization_is_told_once_and_stops_nobody() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("bad", &json!({"interval": TOO_LONG}));
    stage.kustomization("behind", &json!({"dependsOn": [{"name": "bad"}]}));
    stage.kustomization("good", &json!({}));
    stage.until_ready("good");
    until_told(&stage, "Kustomization", "bad");
    let message = stage.until_failed("behind", "DependencyNotReady");
    assert!(message.contains("is malformed: spec.interval"), "{message}");

    // It is looked at again, and nothing is new.
    stage.request("Kustomization", "bad");
    stage.kustomization("later", &json!({"dependsOn": [{"name": "good"}]}));
    stage.until_ready("later");
    let writes = proxy.count(|request| {
        request.is_write() && request.path.ends_with("/kustomizations/bad/status")
    });
    assert_eq!(writes, 1, "{:#?}", proxy.requests());
    assert_eq!(stage.events("Kustomization", "bad").len(), 1);

    stage.patch("Kustomization", "bad", &json!({"spec": {"interval": "10m"}}));
    let object = stage.until_ready("bad");
    assert_eq!(condition(&object, "Stalled"), &Value::Null);
    stage.until_ready("behind");
}

#[test]
fn a_malformed_source_is_told_and_so_are_those_who_use_it() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
    });
    // It is posted after the status is written.
    let events = Stage::until("the event of the artifact is there", || {
        let events = stage.events("OCIRepository", "app");
        (!events.is_empty()).then_some(events)
    });
    for event in events {
        stage.delete("Event", event["metadata"]["name"].as_str().expect("a name"));
    }
    stage.patch("OCIRepository", "app", &json!({"spec": {"interval": TOO_LONG}}));
    until_told(&stage, "OCIRepository", "app");
    stage.kustomization("app", &json!({}));
    let message = stage.until_failed("app", "ArtifactFailed");
    let source = format!("unable to get source '{}/app': OCIRepository", stage.namespace);
    assert!(message.starts_with(&source), "{message}");
    assert!(message.contains("spec.interval"), "{message}");
    stage.patch("OCIRepository", "app", &json!({"spec": {"interval": "10m"}}));
    stage.until_ready("app");
}
