//! Objects that need a definition which something else delivers: by a manifest, by a release, or by a program that runs.
//!
//! What releases and programs do is done by the test: it installs the definition when they have been applied.

use flumen_object::Gvk;
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map, definition};

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n\
                       metadata: {name: widget-operator, namespace: <ns>}\nspec: {interval: 1h}\n";
const OPERATOR: &str = "apiVersion: apps/v1\nkind: Deployment\n\
                        metadata: {name: operator, namespace: <ns>}\n\
                        spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: \
                        {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}\n";
const WIDGET: &str =
    "apiVersion: <ns>.example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: <ns>}\n";

/// How a controller treats objects of kinds that are not served.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unserved {
    /// As Flux does.
    Fail,
    Defer,
}

use Unserved::{Defer, Fail};

fn start(unserved: Unserved) -> Option<Stage> {
    let stage = Stage::start_changed(|options| {
        options.kustomize.defer_unknown_kinds = unserved == Defer;
    })?;
    let mut releases = definition("helmreleases.helm.toolkit.fluxcd.io", "HelmRelease");
    let version = &mut releases["spec"]["versions"][0];
    version["name"] = json!("v2");
    version["subresources"] = json!({"status": {}});
    // As Flux defines its kinds: without a controller nothing is observed.
    version["schema"]["openAPIV3Schema"]["properties"] = json!({"status": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "default": {"observedGeneration": -1},
    }});
    stage.apply(&releases);
    // Flux's way fails for want of a kind, and looks again after the interval only.
    stage.until_served(&Gvk::new(&"helm.toolkit.fluxcd.io/v2".into(), "HelmRelease".into()));
    Some(stage)
}

fn crd(stage: &Stage) -> Value {
    definition(&format!("widgets.{}.example.com", stage.namespace), "Widget")
}

fn define_widgets(stage: &Stage) {
    stage.apply(&crd(stage));
}

fn has_widget(stage: &Stage) -> bool {
    let resource = format!("widgets.{}.example.com", stage.namespace);
    stage.cluster.kubectl(&["get", &resource, "w", "-n", &stage.namespace]).status == Some(0)
}

/// Says of the release what its controller would say when all is well.
fn release_is_ready(stage: &Stage) {
    let status = json!({
        "observedGeneration": 1,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "InstallSucceeded", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    });
    stage.patch_status("HelmRelease", "widget-operator", &status);
}

/// Pushes one directory for each Kustomization.
fn push(stage: &Stage, directories: &[(&str, &[&str])]) {
    let mut files = Vec::new();
    for (directory, manifests) in directories {
        for (number, manifest) in manifests.iter().enumerate() {
            files.push((format!("{directory}/{number}.yaml"), *manifest));
        }
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    stage.push(&files);
    stage.source();
}

fn create(stage: &Stage, name: &str, fields: Value) {
    let mut fields = fields;
    fields["path"] = json!(format!("./{name}"));
    stage.kustomization(name, &fields);
}

/// Waits until a Kustomization waits for the kind, or has failed for want of it.
fn until_missed(stage: &Stage, name: &str, unserved: Unserved) {
    let group = format!("{}.example.com/v1", stage.namespace);
    let words = match unserved {
        Fail => format!("no matches for kind \"Widget\" in version \"{group}\""),
        Defer => format!("waiting for kind Widget ({group})"),
    };
    stage.until_object("Kustomization", name, |object| {
        let ready = condition(object, "Ready");
        ready["message"].as_str().unwrap_or_default().contains(&words)
    });
    assert!(!has_widget(stage));
}

#[test]
fn a_definition_and_its_object_go_in_one_run() {
    for unserved in [Fail, Defer] {
        let Some(stage) = start(unserved) else { return };
        let crd = crd(&stage).to_string();
        push(&stage, &[("one", &[&crd, WIDGET])]);
        create(&stage, "one", json!({}));
        stage.until_ready("one");
        assert!(has_widget(&stage), "{unserved:?}");
    }
}

#[test]
fn a_release_goes_ahead_of_the_object_that_needs_it() {
    let Some(stage) = start(Defer) else { return };
    push(&stage, &[("one", &[RELEASE, WIDGET])]);
    create(&stage, "one", json!({}));
    Stage::until("the release is applied", || stage.get("HelmRelease", "widget-operator"));
    until_missed(&stage, "one", Defer);
    define_widgets(&stage);
    let object = stage.until_ready("one");
    assert!(has_widget(&stage));
    let entries = object["status"]["inventory"]["entries"].as_array().expect("an inventory");
    assert_eq!(entries.len(), 2, "the inventory covers both");
}

#[test]
fn as_in_flux_a_release_is_kept_back_by_the_object_that_needs_it() {
    let Some(stage) = start(Fail) else { return };
    push(&stage, &[("one", &[RELEASE, WIDGET])]);
    create(&stage, "one", json!({}));
    until_missed(&stage, "one", Fail);
    assert!(stage.get("HelmRelease", "widget-operator").is_none());
}

#[test]
fn a_definition_that_is_there_holds_nobody_up() {
    for unserved in [Fail, Defer] {
        let Some(stage) = start(unserved) else { return };
        define_widgets(&stage);
        let version = format!("{}.example.com/v1", stage.namespace);
        stage.until_served(&Gvk::new(&version.into(), "Widget".into()));
        push(&stage, &[("one", &[RELEASE, WIDGET])]);
        create(&stage, "one", json!({}));
        stage.until_ready("one");
        assert!(has_widget(&stage), "{unserved:?}");
    }
}

#[test]
fn a_provider_that_waits_is_waited_for() {
    for unserved in [Fail, Defer] {
        let Some(stage) = start(unserved) else { return };
        push(&stage, &[("provider", &[RELEASE]), ("consumer", &[WIDGET])]);
        create(&stage, "provider", json!({"wait": true}));
        create(&stage, "consumer", json!({"dependsOn": [{"name": "provider"}]}));
        stage.until_failed("consumer", "DependencyNotReady");
        Stage::until("the release is applied", || stage.get("HelmRelease", "widget-operator"));
        define_widgets(&stage);
        release_is_ready(&stage);
        stage.until_ready("provider");
        stage.until_ready("consumer");
        assert!(has_widget(&stage), "{unserved:?}");
    }
}

/// The consumer begins before its kind is there, and gets over it by itself.
fn check_consumer(provider: &[&str], wait: bool, depends: bool) {
    for unserved in [Fail, Defer] {
        let Some(stage) = start(unserved) else { return };
        push(&stage, &[("provider", provider), ("consumer", &[WIDGET])]);
        create(&stage, "provider", json!({ "wait": wait }));
        let on = if depends { json!([{"name": "provider"}]) } else { json!([]) };
        // As in Flux the next try helps; who waits needs none.
        let retry = if unserved == Fail { "1s" } else { "1h" };
        let fields = json!({"interval": "1h", "retryInterval": retry, "dependsOn": on});
        create(&stage, "consumer", fields);
        until_missed(&stage, "consumer", unserved);
        if depends {
            stage.until_ready("provider");
        }
        define_widgets(&stage);
        stage.until_ready("consumer");
        assert!(has_widget(&stage), "{unserved:?}");
    }
}

#[test]
fn a_provider_that_does_not_wait_is_ready_too_early() {
    check_consumer(&[RELEASE], false, true);
}

#[test]
fn a_consumer_that_depends_on_nobody_gets_over_it() {
    check_consumer(&[RELEASE], true, false);
}

#[test]
fn a_program_may_define_its_kinds_after_it_is_ready() {
    check_consumer(&[OPERATOR], true, true);
}

#[test]
fn definitions_may_have_a_kustomization_of_their_own() {
    for unserved in [Fail, Defer] {
        let Some(stage) = start(unserved) else { return };
        let crd = crd(&stage).to_string();
        push(&stage, &[("crds", &[&crd]), ("rest", &[RELEASE, WIDGET])]);
        create(&stage, "rest", json!({"dependsOn": [{"name": "crds"}]}));
        create(&stage, "crds", json!({"wait": true}));
        stage.until_ready("rest");
        assert!(has_widget(&stage), "{unserved:?}");
    }
}

#[test]
fn when_no_definition_comes_the_failure_names_the_kind_and_the_rest_stays() {
    let Some(stage) = start(Defer) else { return };
    push(&stage, &[("one", &[&config_map("c", "1"), WIDGET])]);
    create(&stage, "one", json!({"timeout": "30s"}));
    let message = stage.until_failed("one", "ReconciliationFailed");
    let namespace = &stage.namespace;
    let missing =
        format!("Widget/{namespace}/w waits for kind Widget of {namespace}.example.com/v1");
    assert!(message.contains(&missing), "{message}");
    assert!(stage.get("ConfigMap", "c").is_some());
    let object = stage.get("Kustomization", "one").expect("it is there");
    let entries = object["status"]["inventory"]["entries"].as_array().expect("an inventory");
    let id = json!(format!("{namespace}_c__ConfigMap"));
    assert!(entries.iter().any(|entry| entry["id"] == id), "{entries:?}");
}

#[test]
fn as_in_flux_a_kind_that_nobody_defines_keeps_everything_back() {
    let Some(stage) = start(Fail) else { return };
    push(&stage, &[("one", &[&config_map("c", "1"), WIDGET])]);
    create(&stage, "one", json!({}));
    until_missed(&stage, "one", Fail);
    assert!(stage.get("ConfigMap", "c").is_none());
}

#[test]
fn a_kustomization_can_ask_for_what_flux_does() {
    let Some(stage) = start(Defer) else { return };
    push(&stage, &[("one", &[RELEASE, WIDGET])]);
    create(&stage, "one", json!({"suspend": true}));
    let unknown_kinds = |value: Value| {
        let annotations = json!({"kustomize.toolkit.fluxcd.io/unknown-kinds": value});
        stage.patch("Kustomization", "one", &json!({"metadata": {"annotations": annotations}}));
    };
    unknown_kinds(json!("fail"));
    stage.patch("Kustomization", "one", &json!({"spec": {"suspend": false}}));
    until_missed(&stage, "one", Fail);
    assert!(stage.get("HelmRelease", "widget-operator").is_none());
    unknown_kinds(json!("Fail"));
    let message = stage.until_failed("one", "InvalidAnnotation");
    assert!(message.ends_with("is \"Fail\": use \"fail\" or \"defer\", or remove it"), "{message}");
    unknown_kinds(Value::Null);
    Stage::until("the release is applied", || stage.get("HelmRelease", "widget-operator"));
    until_missed(&stage, "one", Defer);
}

#[test]
fn a_wait_for_a_kind_that_no_controller_serves_says_so() {
    let Some(stage) = start(Defer) else { return };
    push(&stage, &[("one", &[RELEASE])]);
    create(&stage, "one", json!({"wait": true, "timeout": "30s"}));
    let unserved = "; no controller serves the kind HelmRelease (helm.toolkit.fluxcd.io/v2)";
    let object = stage.until_object("Kustomization", "one", |object| {
        let ready = condition(object, "Ready");
        let message = ready["message"].as_str().unwrap_or_default();
        ready["status"] == "Unknown" && message.ends_with(unserved)
    });
    let step = condition(&object, "Reconciling")["message"].as_str().expect("a message");
    assert!(step.starts_with("Running health checks for revision "), "{step}");
    let message = stage.until_failed("one", "HealthCheckFailed");
    let namespace = &stage.namespace;
    let waited = format!(
        "timeout waiting for: [HelmRelease/{namespace}/widget-operator status: 'InProgress']"
    );
    assert!(message.ends_with(&format!("{waited}{unserved}")), "{message}");
}

#[test]
fn a_source_of_a_kind_that_no_controller_serves_is_told() {
    let Some(stage) = Stage::start() else { return };
    stage.kustomization("app", &json!({"sourceRef": {"kind": "Bucket", "name": "b"}}));
    let message = stage.until_failed("app", "ArtifactFailed");
    let expected = format!(
        "Bucket/{}/b: no controller serves the kind Bucket (source.toolkit.fluxcd.io/v1); use a GitRepository, \
         an OCIRepository or an ExternalArtifact",
        stage.namespace
    );
    assert_eq!(message, expected);
}

#[test]
fn a_newer_revision_ends_the_wait_for_a_kind() {
    let Some(stage) = start(Defer) else { return };
    push(&stage, &[("app", &[WIDGET, &config_map("one", "1")])]);
    stage.kustomization("app", &json!({"path": "./app", "timeout": "10m"}));
    stage.until_object("Kustomization", "app", |object| {
        let message = condition(object, "Reconciling")["message"].as_str().unwrap_or_default();
        message.contains("Widget")
    });
    stage.push(&[("app/0.yaml", &config_map("one", "2"))]);
    stage.request("OCIRepository", "app");
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "2");
    stage.until_ready("app");
    // What was named ahead and never came is no longer named.
    let inventory = &stage.get("Kustomization", "app").expect("it is there")["status"]["inventory"];
    assert_eq!(inventory["entries"].as_array().map(Vec::len), Some(1), "{inventory}");

    // So does the end of the Kustomization.
    stage.push(&[("app/0.yaml", WIDGET)]);
    stage.request("OCIRepository", "app");
    stage.until_object("Kustomization", "app", |object| {
        let message = condition(object, "Reconciling")["message"].as_str().unwrap_or_default();
        message.contains("Widget")
    });
    stage.delete("Kustomization", "app");
    Stage::until("it is gone", || stage.get("Kustomization", "app").is_none().then_some(()));
}
