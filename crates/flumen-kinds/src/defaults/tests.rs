use flumen_schema::api::{Api, ApiKind};
use serde_json::{Value, json};

use super::{default, image, kinds, table};
use crate::canonical::canonical;

fn kind(group: &str, kind: &str) -> &'static ApiKind {
    let mut kinds = Api::get().kinds().iter();
    kinds.find(|k| k.group == group && k.kind == kind && k.version != "v2").expect("is served")
}

#[track_caller]
fn defaulted(of: &ApiKind, mut object: Value) -> Value {
    canonical(&mut object, of.object);
    default(&mut object, of);
    let mut again = object.clone();
    canonical(&mut again, of.object);
    assert_eq!(again, object, "the result is canonical");
    default(&mut again, of);
    assert_eq!(again, object, "a second time changes nothing");
    object
}

#[test]
fn every_line_of_the_table_is_understood() {
    let lines = include_str!("table.txt").lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), table().count());
    let api = Api::get();
    for (name, field, value) in table() {
        let of = api.type_named(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert!(api.type_of(of).field(field).is_some(), "{name} has no {field}");
        assert!(!value.is_null());
    }
    for (name, _) in kinds::RULES {
        assert!(api.type_named(name).is_some(), "there is no {name}");
    }
}

#[test]
fn a_default_is_applied_wherever_its_type_occurs() {
    let spec = json!({ "containers": [{
        "name": "c",
        "image": "a:1",
        "ports": [{ "containerPort": 1 }],
        "livenessProbe": { "httpGet": { "port": 1 } },
    }] });
    let expected = json!({
        "containers": [{
            "name": "c",
            "image": "a:1",
            "imagePullPolicy": "IfNotPresent",
            "ports": [{ "containerPort": 1, "protocol": "TCP" }],
            "livenessProbe": {
                "httpGet": { "path": "/", "port": 1, "scheme": "HTTP" },
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    });
    let deployment = json!({ "spec": { "template": { "spec": spec } } });
    let object = defaulted(kind("apps", "Deployment"), deployment);
    assert_eq!(object["spec"]["template"]["spec"], expected);
    let cron = json!({ "spec": { "jobTemplate": { "spec": { "template": { "spec": spec } } } } });
    let object = defaulted(kind("batch", "CronJob"), cron);
    assert_eq!(object["spec"]["jobTemplate"]["spec"]["template"]["spec"], expected);
}

#[test]
fn what_was_given_stays() {
    let spec = json!({
        "replicas": 0,
        "revisionHistoryLimit": 0,
        "strategy": { "type": "Recreate" },
        "template": { "spec": { "terminationGracePeriodSeconds": 0, "dnsPolicy": "None" } },
    });
    let object = defaulted(kind("apps", "Deployment"), json!({ "spec": spec }));
    let spec = &object["spec"];
    assert_eq!((&spec["replicas"], &spec["revisionHistoryLimit"]), (&json!(0), &json!(0)));
    assert_eq!(spec["strategy"], json!({ "type": "Recreate" }));
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["terminationGracePeriodSeconds"], 0);
    assert_eq!(pod["dnsPolicy"], "None");
}

#[test]
fn images_without_a_tag_are_the_latest() {
    for latest in ["nginx", "nginx:latest", "a/b", "localhost/a", "registry.example.com:5000/a/b"] {
        assert!(image::is_latest(latest), "{latest}");
    }
    let digest = format!("a@sha256:{}", "0".repeat(64));
    let id = "a".repeat(64);
    let others =
        ["nginx:1.2", "registry.example.com:5000/a:1", "", "A", "a//b", "a:", "a_.b", "-a"];
    for other in others.into_iter().chain([digest.as_str(), id.as_str()]) {
        assert!(!image::is_latest(other), "{other}");
    }
}

#[test]
fn a_pod_requests_what_it_limits_and_a_template_does_not() {
    let spec = json!({ "containers": [{
        "name": "c",
        "resources": { "limits": { "cpu": "1", "memory": "1Gi" }, "requests": { "cpu": "500m" } },
    }] });
    let pod = defaulted(kind("", "Pod"), json!({ "spec": spec }));
    let resources = &pod["spec"]["containers"][0]["resources"];
    assert_eq!(resources["requests"], json!({ "cpu": "500m", "memory": "1Gi" }));
    assert_eq!(pod["spec"]["enableServiceLinks"], true);
    let template = json!({ "spec": { "template": { "spec": spec } } });
    let object = defaulted(kind("apps", "Deployment"), template);
    let pod = &object["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["resources"]["requests"], json!({ "cpu": "500m" }));
    assert_eq!(pod.get("enableServiceLinks"), None);
}

#[test]
fn a_pod_as_a_whole_requests_what_its_containers_do() {
    let container = |name: &str, cpu: &str| json!({ "name": name, "resources": { "requests": { "cpu": cpu } } });
    let mut sidecar = container("s", "100m");
    sidecar["restartPolicy"] = "Always".into();
    let spec = json!({
        "resources": { "limits": { "cpu": "4", "memory": "1Gi" } },
        "initContainers": [sidecar, container("i", "2")],
        "containers": [container("a", "500m"), container("b", "1")],
    });
    let pod = defaulted(kind("", "Pod"), json!({ "spec": spec }));
    // The second to start needs two processors next to the sidecar; later all need 1600m.
    assert_eq!(pod["spec"]["resources"]["requests"], json!({ "cpu": "2100m", "memory": "1Gi" }));
}

#[test]
fn amounts_are_kept_to_the_thousandth() {
    let quota = json!({ "spec": { "hard": { "cpu": "1n", "memory": "1.0005", "pods": "1" } } });
    let object = defaulted(kind("", "ResourceQuota"), quota);
    assert_eq!(object["spec"]["hard"], json!({ "cpu": "1m", "memory": "1001m", "pods": "1" }));
}

#[test]
fn a_service_is_completed_by_its_type() {
    let check = |spec: Value, expected: Value| {
        let object = defaulted(kind("", "Service"), json!({ "spec": spec }));
        assert_eq!(object["spec"], expected);
    };
    check(
        json!({ "ports": [{ "port": 80 }, { "port": 81, "targetPort": "http" }] }),
        json!({
            "internalTrafficPolicy": "Cluster",
            "ports": [
                { "port": 80, "protocol": "TCP", "targetPort": 80 },
                { "port": 81, "protocol": "TCP", "targetPort": "http" },
            ],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        }),
    );
    check(
        json!({ "type": "LoadBalancer", "sessionAffinity": "ClientIP" }),
        json!({
            "allocateLoadBalancerNodePorts": true,
            "externalTrafficPolicy": "Cluster",
            "internalTrafficPolicy": "Cluster",
            "sessionAffinity": "ClientIP",
            "sessionAffinityConfig": { "clientIP": { "timeoutSeconds": 10800 } },
            "type": "LoadBalancer",
        }),
    );
    check(
        json!({ "type": "ExternalName", "externalName": "a" }),
        json!({ "externalName": "a", "sessionAffinity": "None", "type": "ExternalName" }),
    );
}

#[test]
fn strings_of_a_secret_become_data() {
    let secret =
        json!({ "data": { "a": "YQ==", "b": "Yg==" }, "stringData": { "b": "c", "d": "" } });
    let object = defaulted(kind("", "Secret"), secret);
    assert_eq!(object["data"], json!({ "a": "YQ==", "b": "Yw==", "d": "" }));
    assert_eq!(object.get("stringData"), None);
    assert_eq!(object["type"], "Opaque");
}

#[test]
fn limits_of_containers_are_their_own_defaults() {
    let item = json!({
        "type": "Container",
        "max": { "cpu": "2" },
        "min": { "cpu": "1m", "memory": "1Mi" },
        "default": { "memory": "1Gi" },
    });
    let object = defaulted(kind("", "LimitRange"), json!({ "spec": { "limits": [item] } }));
    let item = &object["spec"]["limits"][0];
    assert_eq!(item["default"], json!({ "cpu": "2", "memory": "1Gi" }));
    assert_eq!(item["defaultRequest"], json!({ "cpu": "2", "memory": "1Gi" }));
}

#[test]
fn names_of_a_definition_follow_its_kind() {
    let spec = json!({
        "names": { "kind": "Big", "plural": "bigs" },
        "versions": [{ "name": "v1" }, { "name": "v2", "storage": true }],
    });
    let of = kind("apiextensions.k8s.io", "CustomResourceDefinition");
    let object = defaulted(of, json!({ "spec": spec }));
    assert_eq!(object["spec"]["names"]["singular"], "big");
    assert_eq!(object["spec"]["names"]["listKind"], "BigList");
    assert_eq!(object["spec"]["conversion"], json!({ "strategy": "None" }));
    assert_eq!(object["status"]["storedVersions"], json!(["v2"]));
}

#[test]
fn a_conversion_webhook_without_anything_is_none() {
    let check = |webhook: Value, expected: Value| {
        let conversion = json!({ "strategy": "None", "webhook": webhook });
        let of = kind("apiextensions.k8s.io", "CustomResourceDefinition");
        let object = defaulted(of, json!({ "spec": { "conversion": conversion } }));
        assert_eq!(object["spec"]["conversion"]["webhook"], expected);
    };
    check(json!({}), Value::Null);
    check(json!({ "conversionReviewVersions": null }), Value::Null);
    let versions = json!({ "conversionReviewVersions": ["v1"] });
    check(versions.clone(), versions);
    let config = json!({ "clientConfig": {}, "conversionReviewVersions": null });
    check(config.clone(), config);
}
