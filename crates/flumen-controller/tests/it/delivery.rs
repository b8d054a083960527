//! From a source to objects, and back.

use serde_json::json;

use crate::fixture::{Stage, condition, config_map};

#[test]
fn what_a_source_has_is_applied_followed_pruned_and_taken_back() {
    let Some(stage) = Stage::start() else { return };
    let (one, two) = (config_map("one", "1"), config_map("two", "1"));
    stage.push(&[("one.yaml", &one), ("two.yaml", &two)]);
    stage.source();
    stage.kustomization("app", &json!({"wait": true}));
    let object = stage.until_ready("app");
    let revision = object["status"]["lastAppliedRevision"].clone();
    assert_eq!(object["status"]["lastAttemptedRevision"], revision);
    assert_eq!(condition(&object, "Healthy")["status"], "True");
    let namespace = &stage.namespace;
    let ids = |names: &[&str]| {
        let id = |name: &&str| json!({"id": format!("{namespace}_{name}__ConfigMap"), "v": "v1"});
        json!(names.iter().map(id).collect::<Vec<_>>())
    };
    assert_eq!(object["status"]["inventory"]["entries"], ids(&["one", "two"]));
    assert_eq!(object["metadata"]["finalizers"], json!(["finalizers.fluxcd.io"]));
    let applied = stage.get("ConfigMap", "one").expect("it is applied");
    let labels = json!({
        "kustomize.toolkit.fluxcd.io/name": "app",
        "kustomize.toolkit.fluxcd.io/namespace": namespace,
    });
    assert_eq!(applied["metadata"]["labels"], labels);
    let managers = applied["metadata"]["managedFields"].as_array().expect("managers");
    let managers: Vec<_> = managers.iter().map(|one| one["manager"].as_str()).collect();
    assert_eq!(managers, [Some("kustomize-controller")]);

    stage.push(&[("one.yaml", &config_map("one", "2"))]);
    stage.request("OCIRepository", "app");
    let object = stage.until_object("Kustomization", "app", |object| {
        let applied = &object["status"]["lastAppliedRevision"];
        *applied != revision && condition(object, "Ready")["status"] == "True"
    });
    assert_eq!(object["status"]["inventory"]["entries"], ids(&["one"]));
    assert_eq!(stage.get("ConfigMap", "one").expect("it is there")["data"]["key"], "2");
    Stage::until("two is pruned", || stage.get("ConfigMap", "two").is_none().then_some(()));
    assert_eq!(object["status"]["history"].as_array().map(Vec::len), Some(2));

    stage.delete("Kustomization", "app");
    Stage::until("it is gone", || stage.get("Kustomization", "app").is_none().then_some(()));
    assert!(stage.get("ConfigMap", "one").is_none(), "it is taken back");
}

#[test]
fn drift_is_corrected_when_it_is_seen() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "2", "other": "mine"}}));
    let corrected = stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
    assert_eq!(corrected["data"]["other"], "mine", "what was not declared stays");
    stage.delete("ConfigMap", "one");
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
}

#[test]
fn a_suspended_kustomization_does_nothing_and_answers_requests() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"suspend": true}));
    let at = stage.request("Kustomization", "app");
    let object = stage.until_object("Kustomization", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    assert_eq!(object["status"].get("conditions"), None);
    assert!(stage.get("ConfigMap", "one").is_none());
    stage.patch("Kustomization", "app", &json!({"spec": {"suspend": false}}));
    stage.until_ready("app");
}

#[test]
fn variables_are_substituted_and_followed() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "${word} and ${other:=default}"))]);
    stage.source();
    stage.apply(&json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "words",
            "namespace": stage.namespace,
            "labels": {"reconcile.fluxcd.io/watch": "Enabled"},
        },
        "data": {"word": "hello"},
    }));
    let from = json!([{"kind": "ConfigMap", "name": "words"}]);
    stage.kustomization("app", &json!({"postBuild": {"substituteFrom": from}}));
    stage.until_ready("app");
    let applied = stage.get("ConfigMap", "one").expect("it is applied");
    assert_eq!(applied["data"]["key"], "hello and default");
    stage.patch("ConfigMap", "words", &json!({"data": {"word": "goodbye"}}));
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "goodbye and default");
}

#[test]
fn replicas_are_applied_beside_an_autoscaler_as_flux_does() {
    let Some(stage) = Stage::start() else { return };
    let workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: <ns>}\n\
        spec:\n  replicas: 3\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    \
        spec: {containers: [{name: a, image: registry.example.com/a}]}\n";
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n\
        metadata: {name: web, namespace: <ns>}\nspec:\n  maxReplicas: 5\n  \
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n";
    stage.push(&[("web.yaml", workload), ("autoscaler.yaml", autoscaler)]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let applied = stage.get("Deployment", "web").expect("it is applied");
    assert_eq!(applied["spec"]["replicas"], 3);
}

#[test]
fn what_makes_flux_run_is_left_alone_and_the_rest_is_applied() {
    let Some(stage) = Stage::start() else { return };
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: source-controller\n  \
        namespace: <ns>\n  labels: {app.kubernetes.io/part-of: flux}\nspec:\n  selector: {matchLabels: {a: b}}\n  \
        template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: a, image: registry.example.com/a}]}\n";
    stage.push(&[("flux.yaml", deployment), ("map.yaml", &config_map("settings", "1"))]);
    stage.source();
    stage.kustomization("flux", &json!({"wait": true}));
    let ready = stage.until_ready("flux");
    assert!(stage.get("ConfigMap", "settings").is_some());
    assert!(stage.get("Deployment", "source-controller").is_none());
    let inventory = ready["status"]["inventory"]["entries"].as_array().expect("an inventory");
    assert_eq!(inventory.len(), 1, "{inventory:?}");
    let said = Stage::until("it is said", || {
        let events = stage.events("Kustomization", "flux");
        events.into_iter().find(|event| event["reason"] == "FluxComponentsSkipped")
    });
    let message = said["message"].as_str().expect("a message");
    assert!(message.contains("/source-controller"), "{message}");
}
