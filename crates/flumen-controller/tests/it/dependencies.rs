//! Who waits for whom.

use serde_json::json;

use crate::fixture::{Stage, condition, config_map};

#[test]
fn dependants_begin_when_their_dependency_is_ready() {
    let Some(stage) = Stage::start() else { return };
    let (a, b) = (config_map("a", "1"), config_map("b", "1"));
    stage.push(&[("a/a.yaml", &a), ("b/b.yaml", &b)]);
    stage.source();
    stage.kustomization("b", &json!({"path": "./b", "dependsOn": [{"name": "a"}]}));
    let message = stage.until_failed("b", "DependencyNotReady");
    let missing = "kustomizations.kustomize.toolkit.fluxcd.io \"a\" not found";
    assert_eq!(message, format!("dependency '{}/a' not found: {missing}", stage.namespace));
    assert!(stage.get("ConfigMap", "b").is_none());
    stage.kustomization("a", &json!({"path": "./a"}));
    stage.until_ready("b");
    assert!(stage.get("ConfigMap", "a").is_some() && stage.get("ConfigMap", "b").is_some());
}

#[test]
fn a_cycle_is_reported_on_every_member() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("a.yaml", &config_map("a", "1"))]);
    stage.source();
    for (name, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        stage.kustomization(name, &json!({"dependsOn": [{"name": other}]}));
    }
    for (name, way) in [("a", "a b c a"), ("b", "b c a b"), ("c", "c a b c")] {
        let names = way.split(' ').map(|name| format!("{}/{name}", stage.namespace));
        let way = names.collect::<Vec<_>>().join(" -> ");
        stage.until_object("Kustomization", name, |object| {
            condition(object, "Ready")["message"] == format!("dependency cycle {way}")
        });
    }
}

#[test]
fn objects_wait_for_a_definition_that_comes_late() {
    let Some(stage) = Stage::start() else { return };
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: <ns>}\n";
    stage.push(&[("one.yaml", &config_map("one", "1")), ("widget.yaml", widget)]);
    stage.source();
    stage.kustomization("app", &json!({}));
    Stage::until("the rest is applied", || stage.get("ConfigMap", "one"));
    assert_ne!(
        condition(&stage.get("Kustomization", "app").expect("it is there"), "Ready")["status"],
        "True"
    );
    stage.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    }));
    stage.until_ready("app");
    assert!(stage.get("Widget", "w").is_some());
}
