//! Sources: what they say of themselves, and what they cost.

use std::net::TcpListener;

use flumen_testkit::KubeRequest;
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

/// Waits until the source is ready for its present spec.
fn until_ready(stage: &Stage) -> Value {
    stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
            && object["status"]["observedGeneration"] == object["metadata"]["generation"]
    })
}

/// Waits until the source has failed for a reason.
fn until_failed(stage: &Stage, reason: &str) -> Value {
    stage.until_object("OCIRepository", "app", |object| {
        let ready = condition(object, "Ready");
        ready["status"] == "False" && ready["reason"] == reason
    })
}

/// Reasons and messages of the events about the source.
fn events(stage: &Stage) -> Vec<(String, String)> {
    let list = stage.events("OCIRepository", "app");
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    list.iter().map(|event| (text(event, "reason"), text(event, "message"))).collect()
}

#[test]
fn a_source_becomes_ready_with_three_writes() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    proxy.forget();
    stage.source();
    let object = until_ready(&stage);
    let artifact = &object["status"]["artifact"];
    let (revision, path) = (artifact["revision"].as_str(), artifact["path"].as_str());
    let revision = revision.expect("a revision");
    let digest = revision.strip_prefix("latest@").expect("the default tag");
    let directory = format!("ocirepository/{}/app", stage.namespace);
    assert_eq!(path, Some(format!("{directory}/{digest}.tar.gz").as_str()));
    assert_eq!(object["status"]["url"], format!("http://localhost/{directory}/latest.tar.gz"));
    assert_eq!(object["metadata"]["finalizers"], json!(["finalizers.fluxcd.io"]));
    for kind in ["Ready", "ArtifactInStorage"] {
        let condition = condition(&object, kind);
        assert_eq!(condition["message"], format!("stored artifact for digest '{revision}'"));
    }
    let message = Stage::until("the event is there", || {
        events(&stage).into_iter().find(|(reason, _)| reason == "NewArtifact")
    });
    let origin = ", origin source 'https://example.com/org/app', origin revision 'main@sha1:0000";
    assert!(message.1.starts_with(&format!("stored artifact with revision '{revision}' from ")));
    assert!(message.1.contains(origin), "{}", message.1);
    let writes = |of: &str| {
        let is_of = |resource: String| resource.starts_with(of);
        proxy.count(|request: &KubeRequest| {
            request.is_write() && request.resource().is_some_and(is_of)
        })
    };
    assert_eq!((writes("ocirepositories"), writes("events")), (2, 1), "{:#?}", proxy.requests());

    // Nothing has changed: that is noted, and nothing else is written.
    stage.request("OCIRepository", "app");
    Stage::until("it is noted", || {
        events(&stage).into_iter().find(|(reason, _)| reason == "ArtifactUpToDate")
    });
    assert_eq!(writes("ocirepositories"), 3, "the request is answered");
}

#[test]
fn failures_are_told_and_forgotten() {
    let Some(stage) = Stage::start() else { return };
    stage.source();
    let object = until_failed(&stage, "OCIArtifactPullFailed");
    let message = condition(&object, "FetchFailed")["message"].as_str().expect("a message");
    assert!(message.starts_with("failed to determine artifact digest: GET http://"), "{message}");
    assert!(message.contains("/manifests/latest: "), "{message}");
    let reconciling = condition(&object, "Reconciling");
    assert_eq!(reconciling["reason"], "ProgressingWithRetry");
    assert_eq!(reconciling["message"], "building artifact");
    assert_eq!(object["status"]["observedGeneration"], -1, "nothing is observed yet");

    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.request("OCIRepository", "app");
    let object = until_ready(&stage);
    for kind in ["FetchFailed", "Reconciling", "Stalled"] {
        assert_eq!(condition(&object, kind), &Value::Null, "{kind}");
    }

    // What was stored stays while the next revision fails.
    let selector = json!({"spec": {"layerSelector": {"mediaType": "application/x-nothing"}}});
    stage.patch("OCIRepository", "app", &selector);
    let object = until_failed(&stage, "OCIArtifactLayerOperationFailed");
    assert!(object["status"]["artifact"]["digest"].is_string());
    assert_eq!(condition(&object, "ArtifactInStorage")["status"], "True");
    stage.patch("OCIRepository", "app", &json!({"spec": {"layerSelector": null}}));
    until_ready(&stage);
    Stage::until("the recovery is told", || {
        let recovered = |(reason, _): &(String, String)| reason == "Succeeded";
        events(&stage).into_iter().find(recovered)
    });

    // Only another spec helps.
    let url = object["spec"]["url"].as_str().expect("an address");
    stage.patch("OCIRepository", "app", &json!({"spec": {"url": format!("{url}:v1")}}));
    let object = until_failed(&stage, "URLInvalid");
    assert_eq!(condition(&object, "Stalled")["status"], "True");
    assert_eq!(condition(&object, "Reconciling"), &Value::Null);
    assert_eq!(object["status"]["observedGeneration"], object["metadata"]["generation"]);
}

#[test]
fn secrets_that_are_missing_are_named() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    until_ready(&stage);
    let namespace = &stage.namespace;
    let nope = json!({"name": "nope"});
    let check = |spec: Value, kind: &str, reason: &str, message: &str| {
        stage.patch("OCIRepository", "app", &json!({ "spec": spec }));
        let object = until_failed(&stage, reason);
        let said = condition(&object, kind)["message"].as_str().unwrap_or_default();
        assert!(said.ends_with(message), "{said}");
        let clean = json!({"secretRef": null, "certSecretRef": null, "verify": null});
        stage.patch("OCIRepository", "app", &json!({ "spec": clean }));
        until_ready(&stage);
    };
    check(
        json!({ "secretRef": nope }),
        "FetchFailed",
        "AuthenticationFailed",
        &format!(
            "failed to get credential: failed to get secret '{namespace}/nope': secrets \"nope\" not found"
        ),
    );
    Stage::until("the Secret is named", || {
        let told = |(_, message): &(String, String)| message == "auth secret 'nope' not found";
        events(&stage).into_iter().find(told)
    });
    check(
        json!({ "certSecretRef": nope }),
        "FetchFailed",
        "AuthenticationFailed",
        &format!("secret '{namespace}/nope' not found"),
    );
    check(
        json!({"verify": {"provider": "cosign", "secretRef": nope}}),
        "SourceVerified",
        "VerificationError",
        "failed to verify the signature using provider 'cosign': secrets \"nope\" not found",
    );
}

#[test]
fn a_suspended_source_says_what_it_said_before() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    let before = until_ready(&stage);
    stage.patch("OCIRepository", "app", &json!({"spec": {"suspend": true}}));
    let object = until_ready(&stage);
    let generation = &object["metadata"]["generation"];
    assert_eq!(condition(&object, "Ready")["observedGeneration"], *generation);
    assert_ne!(condition(&object, "ArtifactInStorage")["observedGeneration"], *generation);
    stage.push(&[("one.yaml", &config_map("one", "2"))]);
    let at = stage.request("OCIRepository", "app");
    let object = stage.until_object("OCIRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    assert_eq!(object["status"]["artifact"], before["status"]["artifact"]);
    stage.patch("OCIRepository", "app", &json!({"spec": {"suspend": false}}));
    stage.until_object("OCIRepository", "app", |object| {
        object["status"]["artifact"]["digest"] != before["status"]["artifact"]["digest"]
    });
}

#[test]
fn other_rules_make_another_artifact_and_lost_files_come_back() {
    let Some(stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1")), ("two.yaml", &config_map("two", "1"))]);
    stage.source();
    let all = until_ready(&stage);
    stage.patch("OCIRepository", "app", &json!({"spec": {"ignore": "two.yaml"}}));
    let part = stage.until_object("OCIRepository", "app", |object| {
        object["status"]["observedIgnore"] == "two.yaml"
    });
    assert_eq!(part["status"]["artifact"]["revision"], all["status"]["artifact"]["revision"]);
    assert_ne!(part["status"]["artifact"]["digest"], all["status"]["artifact"]["digest"]);

    let path = stage.stored(part["status"]["artifact"]["path"].as_str().expect("a path"));
    std::fs::remove_file(&path).expect("removed");
    stage.request("OCIRepository", "app");
    Stage::until("the file is there again", || path.exists().then_some(()));
    std::fs::write(&path, "damaged").expect("written");
    stage.request("OCIRepository", "app");
    Stage::until("the damage is told", || {
        let told = |(reason, _): &(String, String)| reason == "ArtifactVerificationFailed";
        events(&stage).into_iter().find(told)
    });
    until_ready(&stage);
    stage.delete("OCIRepository", "app");
    Stage::until("it is gone", || stage.get("OCIRepository", "app").is_none().then_some(()));
    assert!(!path.parent().expect("a directory").exists());
}

#[test]
fn who_begins_without_the_artifacts_waits_for_the_sources_to_fetch_them() {
    let Some(mut stage) = Stage::start() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"interval": "1h"}));
    stage.until_ready("app");
    // Nobody answers under the address of the artifact: asking there would take minutes.
    let kubeconfig = stage.cluster.kubeconfig();
    let mut at = String::new();
    stage.restart_after(&kubeconfig, |stage| {
        let storage = stage.stored("");
        std::fs::remove_dir_all(&storage).expect("removed");
        std::fs::create_dir(&storage).expect("a directory");
        at = stage.request("Kustomization", "app");
    });
    stage.until_object("Kustomization", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
            && condition(object, "Ready")["status"] == "True"
    });
}

#[test]
fn a_remote_that_does_not_answer_holds_up_no_kustomization() {
    let Some(stage) = Stage::start_changed(|options| options.runtime.concurrent = 1) else {
        return;
    };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let url = format!("oci://{address}/app");
    let spec = json!({"interval": "10m", "timeout": "10m", "url": url, "insecure": true});
    stage.create("OCIRepository", "silent", &spec);
    let _connection = silent.accept().expect("it is asked");
    stage.patch("ConfigMap", "one", &json!({"data": {"key": "mine"}}));
    stage.until_object("ConfigMap", "one", |object| object["data"]["key"] == "1");
    let waiting = stage.get("OCIRepository", "silent").expect("it is there");
    assert_ne!(condition(&waiting, "Ready")["status"], "False", "it still waits");
}
