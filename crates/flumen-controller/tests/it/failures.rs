//! What goes wrong is said, and stops nobody else.

use std::{collections::BTreeMap, path::Path};

use flumen_archive::{ArchiveWriter, Gzip};
use flumen_oci::Digest;
use flumen_testkit::GitServer;
use serde_json::{Value, json};

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

#[test]
fn one_broken_directory_of_many_stops_no_other() {
    const MANY: usize = 200;
    let Some(stage) = Stage::start() else { return };
    let name = |number: usize| format!("d{number}");
    let files: Vec<(String, String)> = (0..MANY)
        .map(|number| {
            let text = config_map(&name(number), "1");
            let text = if number == 7 { "kind: [".to_owned() } else { text };
            (format!("{}/it.yaml", name(number)), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    stage.push(&files);
    stage.source();
    let items: Vec<Value> = (0..MANY)
        .map(|number| {
            json!({
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": {"name": name(number), "namespace": stage.namespace},
                "spec": {
                    "interval": "10m",
                    "prune": true,
                    "path": name(number),
                    "sourceRef": {"kind": "OCIRepository", "name": "app"},
                },
            })
        })
        .collect();
    stage.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}));
    let message = stage.until_failed("d7", "BuildFailed");
    assert!(message.contains("/d7/it.yaml: MalformedYAMLError: yaml: line 1"), "{message}");
    for number in (0..MANY).filter(|number| *number != 7) {
        stage.until_ready(&name(number));
    }
}

#[test]
fn an_artifact_that_is_not_what_its_digest_says_is_refused() {
    let Some(server) = GitServer::start("artifacts of others") else { return };
    let Some(stage) = Stage::start() else { return };
    server.put_file("app.tar.gz", "something else");
    stage.create("ExternalArtifact", "app", &json!({}));
    let digest = format!("sha256:{:064}", 1);
    let artifact = json!({
        "url": server.url("files/app.tar.gz"),
        "path": "externalartifact/somewhere/app/app.tar.gz",
        "revision": "main@sha1:0000000000000000000000000000000000000000",
        "digest": digest,
        "lastUpdateTime": "2026-01-01T00:00:00Z",
    });
    stage.patch_status("ExternalArtifact", "app", &json!({ "artifact": artifact }));
    stage.kustomization("app", &json!({"sourceRef": {"kind": "ExternalArtifact", "name": "app"}}));
    let message = stage.until_object("Kustomization", "app", |object| {
        let ready = condition(object, "Ready");
        let message = ready["message"].as_str().unwrap_or_default();
        ready["status"] == "False" && message.starts_with("failed to verify archive")
    });
    let message = condition(&message, "Ready")["message"].as_str().expect("a message").to_owned();
    assert!(message.contains(&digest), "{message}");
    let what_to_do =
        format!("; ExternalArtifact/{}/app must publish its artifact again", stage.namespace);
    assert!(message.ends_with(&what_to_do), "{message}");
}

/// Who may write the status of one object says there what he likes.
#[test]
fn an_artifact_of_others_replaces_no_file_of_another_source() {
    let Some(server) = GitServer::start("artifacts of others") else { return };
    let stage = Stage::start_changed(|options| options.source.retention.records = 1);
    let Some(stage) = stage else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    let source = stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
    });
    let path = source["status"]["artifact"]["path"].as_str().expect("a path").to_owned();

    let text = config_map("two", "2").replace("<ns>", &stage.namespace);
    let mut writer = ArchiveWriter::new(Gzip::new(Vec::new()));
    writer.file(Path::new("two.yaml"), 0o600, text.as_bytes()).expect("written");
    let archive = writer.finish().and_then(Gzip::finish).expect("written");
    let digest = Digest::of(&archive).to_string();
    server.put_file("two.tar.gz", archive);
    stage.create("ExternalArtifact", "other", &json!({}));
    let artifact = json!({
        "url": server.url("files/two.tar.gz"),
        "path": path,
        "revision": "main@sha1:0000000000000000000000000000000000000000",
        "digest": digest,
        "lastUpdateTime": "2026-01-01T00:00:00Z",
    });
    stage.patch_status("ExternalArtifact", "other", &json!({ "artifact": artifact }));
    let other = json!({"sourceRef": {"kind": "ExternalArtifact", "name": "other"}});
    stage.kustomization("other", &other);
    stage.until_ready("other");
    assert!(stage.stored(&path).exists(), "the other source keeps its file");
    let own = format!("externalartifact/{}/other/{digest}.tar.gz", stage.namespace);
    assert!(stage.stored(&own).exists(), "it is stored under the name of its own source");
}

#[test]
fn an_inventory_of_ten_thousand_is_guarded_and_kept() {
    const MANY: usize = 10_000;
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"suspend": true}));
    let namespace = &stage.namespace;
    let entries: Vec<Value> = (0..MANY)
        .map(|number| json!({"id": format!("{namespace}_c{number}__ConfigMap"), "v": "v1"}))
        .collect();
    stage.patch_status("Kustomization", "app", &json!({"inventory": {"entries": entries}}));
    stage.patch("Kustomization", "app", &json!({"spec": {"suspend": false}}));
    let message = stage.until_failed("app", "PruneGuarded");
    assert!(message.starts_with("pruning would delete 10000 of 10000 objects"), "{message}");
    assert!(message.len() < 2_000, "not all of them are named: {message}");
    assert!(message.contains("kustomize.toolkit.fluxcd.io/allow-large-prune"), "{message}");
    let object = stage.get("Kustomization", "app").expect("it is there");
    let kept = object["status"]["inventory"]["entries"].as_array().expect("an inventory");
    assert_eq!(kept.len(), MANY + 1);
    assert!(stage.get("ConfigMap", "one").is_some(), "what is wanted is applied");
}

#[test]
fn an_entry_of_an_inventory_that_is_garbage_is_named() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"suspend": true}));
    let entries = json!([{"id": "garbage", "v": "v1"}]);
    stage.patch_status("Kustomization", "app", &json!({"inventory": {"entries": entries}}));
    stage.patch("Kustomization", "app", &json!({"spec": {"suspend": false}}));
    let message = stage.until_failed("app", "ReconciliationFailed");
    assert!(message.contains("garbage"), "{message}");
    assert!(stage.get("ConfigMap", "one").is_some(), "what can be applied is");
}

#[test]
fn annotations_that_are_garbage_are_told_or_left_alone() {
    let Some(stage) = Stage::start() else { return };
    let garbage = "\u{1F4A9} not a time, not a mode";
    let marks = ["prune", "reconcile", "ssa", "force"];
    let marks = marks.map(|mark| (format!("kustomize.toolkit.fluxcd.io/{mark}"), garbage));
    let marks: BTreeMap<String, &str> = marks.into_iter().collect();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "one", "namespace": stage.namespace, "annotations": marks},
    });
    stage.push(&[("one.yaml", &object.to_string())]);
    stage.source();
    stage.kustomization("app", &json!({}));
    let annotate = |key: &str, value: Value| {
        stage.patch("Kustomization", "app", &json!({"metadata": {"annotations": {key: value}}}));
    };
    annotate("reconcile.fluxcd.io/requestedAt", json!(garbage));
    annotate("kustomize.toolkit.fluxcd.io/allow-large-prune", json!(garbage));
    stage.until_object("Kustomization", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == garbage
    });
    stage.until_ready("app");
    assert!(stage.get("ConfigMap", "one").is_some());
    annotate("kustomize.toolkit.fluxcd.io/drift", json!(garbage));
    let message = stage.until_failed("app", "InvalidAnnotation");
    for word in ["kustomize.toolkit.fluxcd.io/drift", garbage, "report", "correct"] {
        assert!(message.contains(word), "{message}");
    }
    annotate("kustomize.toolkit.fluxcd.io/drift", Value::Null);
    stage.until_ready("app");
}
