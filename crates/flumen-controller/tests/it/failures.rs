//! What goes wrong is said, and stops nobody else.

use serde_json::json;

use crate::fixture::{Stage, condition, config_map};

#[test]
fn a_broken_directory_stops_only_its_own_kustomization() {
    let Some(stage) = Stage::start() else { return };
    let (a, b) = (config_map("a", "1"), "kind: [");
    stage.push(&[("a/a.yaml", &a), ("b/bad.yaml", b)]);
    stage.source();
    stage.kustomization("bad", &json!({"path": "./b"}));
    stage.kustomization("good", &json!({"path": "./a"}));
    stage.kustomization("nowhere", &json!({"path": "./c"}));
    stage.until_ready("good");
    let message = stage.until_failed("bad", "BuildFailed");
    let text = "failed to decode Kubernetes YAML from /tmp/kustomization-0/b/bad.yaml: MalformedYAMLError: yaml: line 1: \
                did not find expected node content";
    assert_eq!(message, text);
    let message = stage.until_failed("nowhere", "ArtifactFailed");
    assert_eq!(
        message,
        "kustomization path not found: stat /tmp/kustomization-0/c: no such file or directory"
    );
    let object = stage.get("Kustomization", "nowhere").expect("it is there");
    assert_eq!(condition(&object, "Reconciling")["reason"], "ProgressingWithRetry");
}

#[test]
fn an_object_that_is_refused_keeps_its_stage_back() {
    let Some(stage) = Stage::start() else { return };
    let bad = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: <ns>}\n\
               spec: {ports: [{port: 99999}]}\n";
    stage.push(&[("one.yaml", &config_map("one", "1")), ("bad.yaml", bad)]);
    stage.source();
    stage.kustomization("app", &json!({}));
    let message = stage.until_failed("app", "ReconciliationFailed");
    let start = format!(
        "Service/{}/s dry-run failed (Invalid): Service \"s\" is invalid: ",
        stage.namespace
    );
    assert!(message.starts_with(&start), "{message}");
    assert!(stage.get("ConfigMap", "one").is_none());
    let object = stage.get("Kustomization", "app").expect("it is there");
    assert_eq!(object["status"].get("inventory"), None);
    assert_eq!(object["status"]["history"][0]["lastReconciledStatus"], "ReconciliationFailed");
}

#[test]
fn most_of_an_inventory_is_not_pruned_without_a_word() {
    let Some(stage) = Stage::start() else { return };
    let names: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("{name}.yaml"), config_map(name, "1"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    stage.push(&files);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    stage.push(&files[..2]);
    stage.request("OCIRepository", "app");
    let message = stage.until_failed("app", "PruneGuarded");
    assert!(message.contains("kustomize.toolkit.fluxcd.io/allow-large-prune"), "{message}");
    assert!(stage.get("ConfigMap", "c5").is_some());
    let object = stage.get("Kustomization", "app").expect("it is there");
    let revision = &object["status"]["lastAttemptedRevision"];
    let annotations = json!({"kustomize.toolkit.fluxcd.io/allow-large-prune": revision});
    stage.patch("Kustomization", "app", &json!({"metadata": {"annotations": annotations}}));
    stage.request("Kustomization", "app");
    stage.until_ready("app");
    Stage::until("it is pruned", || stage.get("ConfigMap", "c5").is_none().then_some(()));
    assert!(stage.get("ConfigMap", "c0").is_some());
}
