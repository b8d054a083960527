//! How objects are read and written, and the rules that one object alone decides.

use std::time::Duration;

use flumen_api::{
    ExternalArtifact, GitRepository, GitVerificationMode, Kind, Kustomization, OciProvider,
    OciRepository, read, write,
};
use serde_json::{Value, json};

use crate::corpus::cases;

fn kustomization(spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "apps", "namespace": "flux-system"},
        "spec": {
            "interval": "10m0s",
            "prune": true,
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
        },
    });
    if let (Value::Object(known), Value::Object(more)) = (&mut object["spec"], spec) {
        known.extend(more);
    }
    object
}

#[track_caller]
fn check_unchanged<K: Kind>(object: &Value) -> K {
    let read: K = read(object).expect("the object is well-formed");
    assert_eq!(write(&read).expect("JSON"), *object);
    read
}

#[test]
fn what_is_read_is_written_and_what_is_absent_stays_absent() {
    check_unchanged::<Kustomization>(&kustomization(json!({})));
    check_unchanged::<Kustomization>(&kustomization(json!({
        "path": "./apps",
        "deletionPolicy": "WaitForTermination",
        "dependsOn": [
            {"name": "a", "readyExpr": "true"},
            {"name": "b", "namespace": "c", "apiVersion": "apps/v1", "kind": "Deployment", "ready": false},
        ],
        "postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "v", "optional": true}]},
        "kubeConfig": {"secretRef": {"name": "remote", "key": "value"}},
        "images": [{"name": "a", "newTag": "b"}],
        "patches": [{"patch": "x", "target": {"labelSelector": "a=b"}}],
        "ignore": [{"paths": ["/spec/replicas"]}],
        "buildMetadata": ["originAnnotations"],
    })));
    check_unchanged::<GitRepository>(&json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": "a"},
        "spec": {
            "url": "https://git.example.com/a",
            "interval": "1m0s",
            "ref": {"branch": "main"},
            "verify": {"mode": "TagAndHEAD", "secretRef": {"name": "keys"}},
            "include": [{"repository": {"name": "b"}, "fromPath": "x"}],
            "ignore": "",
        },
        "status": {
            "observedGeneration": -1,
            "artifact": {
                "path": "gitrepository/default/a/x.tar.gz",
                "url": "http://source.example.com/gitrepository/default/a/x.tar.gz",
                "revision": "main@sha1:x",
                "digest": "sha256:y",
                "lastUpdateTime": "2025-01-01T00:00:00Z",
                "size": 12,
            },
            "sourceVerificationMode": "HEAD",
        },
    }));
    check_unchanged::<OciRepository>(&json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": {"name": "a"},
        "spec": {
            "url": "oci://registry.example.com/a",
            "interval": "1m0s",
            "provider": "gcp",
            "layerSelector": {"mediaType": "x", "operation": "copy"},
            "verify": {
                "provider": "cosign",
                "matchOIDCIdentity": [{"issuer": "i", "subject": "s"}],
            },
        },
    }));
    check_unchanged::<ExternalArtifact>(&json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "ExternalArtifact",
        "metadata": {"name": "a", "ownerReferences": [{"uid": "u"}]},
        "spec": {"sourceRef": {"kind": "Any", "name": "b"}},
    }));
}

#[test]
fn what_is_empty_or_unknown_is_read_as_absent() {
    let mut object = kustomization(json!({
        "suspend": false,
        "force": false,
        "serviceAccountName": "",
        "path": "",
        "dependsOn": [],
        "future": {"a": 1},
    }));
    object["metadata"]["managedFields"] = json!([{"manager": "kubectl"}]);
    let read: Kustomization = read(&object).expect("the object is well-formed");
    assert_eq!(read.spec.service_account_name, None);
    assert_eq!(write(&read).expect("JSON"), kustomization(json!({})));
}

#[test]
fn what_a_server_would_have_defaulted_has_its_default() {
    let git: GitRepository = read(&json!({
        "metadata": {"name": "a"},
        "spec": {"url": "ssh://x", "interval": "1m", "verify": {"mode": "head", "secretRef": {"name": "k"}}},
    }))
    .expect("the object is well-formed");
    let mode = git.spec.verify.as_ref().map(|verify| verify.mode);
    assert_eq!(mode, Some(GitVerificationMode::Head));
    assert_eq!(git.spec.timeout(), Duration::from_mins(1));
    let oci: OciRepository = read(&json!({
        "metadata": {"name": "a"},
        "spec": {"url": "oci://x", "interval": "1m", "timeout": "1.5s"},
    }))
    .expect("the object is well-formed");
    assert_eq!(oci.spec.provider, OciProvider::Generic);
    assert_eq!(oci.spec.timeout(), Duration::from_millis(1_500));
}

#[test]
fn a_malformed_object_says_what_is_wrong_and_where() {
    let check = |object: Value, expected: &str| {
        let error = read::<Kustomization>(&object).expect_err("the object is malformed");
        assert_eq!(error.to_string(), expected);
    };
    check(
        kustomization(json!({"interval": "soon"})),
        "Kustomization flux-system/apps is malformed: spec.interval: time: invalid duration \"soon\"",
    );
    check(
        kustomization(json!({"dependsOn": [{"name": "a"}, {"name": 7}]})),
        "Kustomization flux-system/apps is malformed: spec.dependsOn[1].name: invalid type: integer `7`, expected a string",
    );
    check(
        json!({"metadata": {"name": "a"}, "spec": {}}),
        "Kustomization a is malformed: spec: missing field `interval`",
    );
    check(
        json!([]),
        "Kustomization without a name is malformed: invalid length 0, expected struct Kustomization with 3 elements",
    );
}

#[test]
fn a_timeout_is_at_least_half_a_minute() {
    let check = |spec: Value, expected: u64| {
        let read: Kustomization = read(&kustomization(spec)).expect("the object is well-formed");
        assert_eq!(read.spec.timeout(), Duration::from_secs(expected));
    };
    check(json!({}), 570);
    check(json!({"timeout": "2m"}), 120);
    check(json!({"timeout": "5s"}), 30);
    check(json!({"interval": "45s"}), 30);
    check(json!({"interval": "1s"}), 30);
}

#[test]
fn what_is_not_given_follows_from_what_is() {
    let object =
        kustomization(json!({"dependsOn": [{"name": "a"}, {"name": "b", "namespace": "c"}]}));
    let mut read: Kustomization = read(&object).expect("the object is well-formed");
    assert_eq!(read.spec.retry_interval(), Duration::from_mins(10));
    assert_eq!(read.source_namespace(), "flux-system");
    let namespaces = read.spec.depends_on.iter().map(|dependency| read.namespace_of(dependency));
    assert_eq!(namespaces.collect::<Vec<_>>(), ["flux-system", "c"]);
    assert!(read.deletes_objects());
    read.spec.prune = false;
    assert!(!read.deletes_objects());
    read.spec.deletion_policy = flumen_api::DeletionPolicy::Delete;
    assert!(read.deletes_objects());
}

#[test]
fn the_kustomizations_of_the_corpus_are_read() {
    for file in ["build.jsonl", "build-repos.jsonl"] {
        for case in cases(file) {
            let object = &case["input"]["kustomization"];
            let read = read::<Kustomization>(object);
            assert!(read.is_ok(), "{}: {read:?}", case["id"]);
        }
    }
}
