//! What events and conditions say, in the words that users of Flux know.

use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

/// The first event with this message.
fn event(stage: &Stage, name: &str, message: &str) -> Value {
    Stage::until(message, || {
        let events = stage.events("Kustomization", name);
        events.into_iter().find(|event| event["message"] == message)
    })
}

#[test]
fn passes_that_stop_early_name_the_revision_they_stopped_at() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    let source = stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
    });
    let artifact = &source["status"]["artifact"];
    stage.kustomization("waits", &json!({"dependsOn": [{"name": "nobody"}]}));
    stage.kustomization("lost", &json!({"path": "./nowhere"}));
    let waiting = "Dependencies do not meet ready condition, retrying in 30s";
    let missing = "kustomization path not found: stat /tmp/kustomization-0/nowhere: no such file or directory";
    for (name, message) in [("waits", waiting), ("lost", missing)] {
        let annotations = event(&stage, name, message)["metadata"]["annotations"].clone();
        let group = "kustomize.toolkit.fluxcd.io";
        assert_eq!(annotations[format!("{group}/revision")], artifact["revision"], "{name}");
        assert_eq!(
            annotations[format!("{group}/originRevision")],
            artifact["metadata"]["org.opencontainers.image.revision"],
            "{name}"
        );
    }
}

#[test]
fn a_build_that_fails_says_what_kustomize_says() {
    let Some(stage) = Stage::start() else { return };
    let one = config_map("one", "1");
    stage.push(&[
        ("twice/kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
        ("twice/a.yaml", &one),
        ("twice/b.yaml", &one),
        ("component/kustomization.yaml", "components: [gone]\n"),
        ("a-file", "text"),
    ]);
    stage.source();
    let root = "/tmp/kustomization-0";
    let namespace = &stage.namespace;
    let twice = format!(
        "kustomize build failed: accumulating resources: accumulation err='merging resources from 'b.yaml': may \
         not add resource with an already registered id: ConfigMap.v1.[noGrp]/one.{namespace}': must build at \
         directory: '{root}/twice/b.yaml': file is not directory"
    );
    let component = format!(
        "kustomize build failed: accumulating components: loader.New \"must build at directory: not a valid \
         directory: evalsymlink failure on '{root}/component/gone' : lstat {root}/component/gone: no such file \
         or directory\""
    );
    let file = format!(
        "open {root}/a-file/kustomization.yaml: not a directory remove {root}/a-file/kustomization.yaml: not a \
         directory"
    );
    for (path, expected) in [("twice", twice), ("component", component), ("a-file", file)] {
        stage.kustomization(path, &json!({"path": path}));
        assert_eq!(stage.until_failed(path, "BuildFailed"), expected);
    }
}

#[test]
fn what_pruning_leaves_alone_is_told_too() {
    let Some(stage) = Stage::start() else { return };
    let (one, two) = (config_map("one", "1"), config_map("two", "1"));
    stage.push(&[
        ("one.yaml", &one),
        ("two.yaml", &two),
        ("three.yaml", &config_map("three", "1")),
    ]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let keep = json!({"kustomize.toolkit.fluxcd.io/prune": "disabled"});
    stage.patch("ConfigMap", "two", &json!({"metadata": {"annotations": keep}}));
    stage.push(&[("one.yaml", &one)]);
    stage.request("OCIRepository", "app");
    let namespace = &stage.namespace;
    let told = format!("ConfigMap/{namespace}/two skipped\nConfigMap/{namespace}/three deleted");
    event(&stage, "app", &told);
    assert!(stage.get("ConfigMap", "two").is_some());
}
