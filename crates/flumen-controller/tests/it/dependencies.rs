//! Who waits for whom.

use flumen_controller::Options;
use serde_json::json;

use crate::fixture::{Stage, condition, config_map, definition};

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
    stage.apply(&definition("widgets.example.com", "Widget"));
    stage.until_ready("app");
    assert!(stage.get("Widget", "w").is_some());
}

#[test]
fn objects_of_any_kind_can_be_depended_on_and_wake_who_waits() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("a/a.yaml", &config_map("a", "1")), ("b/b.yaml", &config_map("b", "1"))]);
    stage.source();
    let on = |dependency: serde_json::Value| json!({"path": "./a", "dependsOn": [dependency]});
    let flag = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "flag", "ready": false});
    stage.kustomization("there", &on(flag));
    let go = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "flag",
        "readyExpr": "has(dep.data) && dep.data.key == 'go'",
    });
    let mut spec = on(go);
    spec["path"] = json!("./b");
    stage.kustomization("expression", &spec);
    let message = stage.until_failed("there", "DependencyNotReady");
    let missing = "not found: configmaps \"flag\" not found";
    assert_eq!(message, format!("dependency '{}/flag' {missing}", stage.namespace));
    stage.until_failed("expression", "DependencyNotReady");

    let flag = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "flag", "namespace": stage.namespace},
            "data": {"key": value},
        })
    };
    // The time between two looks is half a minute, and there is not so much patience here.
    stage.apply(&flag("wait"));
    stage.until_ready("there");
    stage.until_object("Kustomization", "expression", |object| {
        let message = condition(object, "Ready")["message"].as_str().unwrap_or_default();
        message.ends_with("/flag' is not ready according to readyExpr eval")
    });
    stage.apply(&flag("go"));
    stage.until_ready("expression");
}

#[test]
fn a_dependency_of_a_kind_that_comes_late_is_waited_for() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("a.yaml", &config_map("a", "1"))]);
    stage.source();
    let gadget =
        json!({"apiVersion": "late.example.com/v1", "kind": "Gadget", "name": "g", "ready": false});
    stage.kustomization("app", &json!({"dependsOn": [gadget]}));
    let message = stage.until_failed("app", "DependencyNotReady");
    let text = "no matches for kind \"Gadget\" in version \"late.example.com/v1\"";
    assert!(message.ends_with(text), "{message}");
    stage.apply(&definition("gadgets.late.example.com", "Gadget"));
    stage.until_object("Kustomization", "app", |object| {
        let message = condition(object, "Ready")["message"].as_str().unwrap_or_default();
        message.ends_with("gadgets.late.example.com \"g\" not found")
    });
    stage.apply(&json!({
        "apiVersion": "late.example.com/v1", "kind": "Gadget",
        "metadata": {"name": "g", "namespace": stage.namespace},
    }));
    stage.until_ready("app");
}

#[test]
fn who_delivers_a_missing_kind_is_named_and_its_definition_wakes_who_gave_up() {
    let Some(stage) = Stage::start() else { return };
    let group = format!("{}.example.com", stage.namespace);
    let name = format!("parts.{group}");
    let crd = serde_json::to_string(&definition(&name, "Part")).expect("JSON");
    let part =
        format!("apiVersion: {group}/v1\nkind: Part\nmetadata: {{name: p, namespace: <ns>}}\n");
    let refused = "apiVersion: v1\nkind: Namespace\nmetadata: {name: Not_A_Name}\n";
    stage.push(&[
        ("app/part.yaml", &part),
        ("crds/crd.yaml", &crd),
        ("crds/refused.yaml", refused),
    ]);
    stage.source();
    // A timeout of less than half a minute counts as that.
    stage.kustomization("app", &json!({"path": "./app", "timeout": "30s", "interval": "1h"}));
    let nobody = format!("waiting for kind Part ({group}/v1), which no Kustomization delivers");
    stage.until_object("Kustomization", "app", |object| {
        condition(object, "Ready")["message"] == nobody
    });
    stage.kustomization("crds", &json!({"path": "./crds"}));
    stage.until_failed("crds", "ReconciliationFailed");
    let crds = format!("Kustomization {}/crds", stage.namespace);
    let by_name = format!("waiting for kind Part ({group}/v1), which {crds} delivers");
    stage.until_object("Kustomization", "app", |object| {
        condition(object, "Ready")["message"] == by_name
    });
    let message = stage.until_failed("app", "ReconciliationFailed");
    assert!(message.contains(&by_name), "{message}");
    // The next try would be an hour from now.
    stage.apply(&definition(&name, "Part"));
    stage.until_ready("app");
}

#[test]
fn a_change_of_ones_own_labels_is_seen_by_ones_expressions() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("a/a.yaml", &config_map("a", "1")), ("b/b.yaml", &config_map("b", "1"))]);
    stage.source();
    stage.kustomization("a", &json!({"path": "./a"}));
    let expression = "has(self.metadata.labels) && self.metadata.labels.wave == 'two'";
    let on = json!([{"name": "a", "readyExpr": expression}]);
    stage.kustomization("b", &json!({"path": "./b", "dependsOn": on}));
    stage.until_failed("b", "DependencyNotReady");
    stage.patch("Kustomization", "b", &json!({"metadata": {"labels": {"wave": "two"}}}));
    stage.until_ready("b");
}

#[test]
fn it_can_be_enough_that_a_kustomization_is_there() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("b/b.yaml", &config_map("b", "1"))]);
    stage.source();
    stage.kustomization("a", &json!({"path": "./missing"}));
    stage.kustomization("b", &json!({"path": "./b", "dependsOn": [{"name": "a", "ready": false}]}));
    stage.until_ready("b");
}

#[test]
fn only_selected_objects_are_reconciled_and_may_depend_on_others() {
    let shard = |options: &mut Options| options.runtime.selector = Some("shard=one".to_owned());
    let Some(stage) = Stage::start_changed(shard) else { return };
    stage.push(&[("a/a.yaml", &config_map("a", "1")), ("b/b.yaml", &config_map("b", "1"))]);
    stage.source();
    stage.kustomization("a", &json!({"path": "./a"}));
    let on = json!([{"name": "a", "ready": false}]);
    stage.kustomization("b", &json!({"path": "./b", "dependsOn": on}));
    let ours = json!({"metadata": {"labels": {"shard": "one"}}});
    stage.patch("OCIRepository", "app", &ours);
    // Labels alone do not ask for a pass, as in Flux; a word does.
    stage.request("OCIRepository", "app");
    stage.patch("Kustomization", "b", &ours);
    stage.request("Kustomization", "b");
    stage.until_ready("b");
    let other = stage.get("Kustomization", "a").expect("it is there");
    assert!(condition(&other, "Ready").is_null(), "{other:#}");
    assert!(stage.get("ConfigMap", "a").is_none());
}
