use flumen_schema::api::Api;
use serde_json::{Value, json};

use super::warnings;

#[track_caller]
fn check(group: &str, kind: &str, object: &Value, expected: &[&str]) {
    let kind = Api::get().kind(group, "v1", kind).expect("a known kind");
    assert_eq!(warnings(kind, object, None), expected);
}

fn deployment(pod: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}})
}

#[test]
fn templates_are_looked_at() {
    let pod = json!({
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "containers": [{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}],
    });
    check(
        "apps",
        "Deployment",
        &deployment(&pod),
        &[
            "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
            "spec.template.spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
        ],
    );
}

#[test]
fn a_variable_may_extend_itself() {
    let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]);
    check("apps", "Deployment", &deployment(&json!({"containers": [{"env": env}]})), &[]);
}

#[test]
fn ports_are_compared() {
    let ports =
        json!([{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "TCP"}]);
    let pod = json!({"containers": [{"ports": ports}], "terminationGracePeriodSeconds": -1});
    check(
        "apps",
        "Deployment",
        &deployment(&pod),
        &[
            "spec.template.spec.containers[0].ports[1]: duplicate port definition with spec.template.spec.containers[0].ports[0]",
            "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
        ],
    );
}

#[test]
fn addresses_have_one_form() {
    let service = json!({"spec": {"externalIPs": ["010.1.1.1", "10.1.1.1", "2001:DB8::1"]}});
    check(
        "",
        "Service",
        &service,
        &[
            "spec.externalIPs[0]: non-standard IP address \"010.1.1.1\" will be considered invalid in a future Kubernetes release: use \"10.1.1.1\"",
            "spec.externalIPs[2]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")",
        ],
    );
}

#[test]
fn names_of_pods_are_hostnames() {
    let pod = json!({"metadata": {"name": "a.b"}, "spec": {}});
    check(
        "",
        "Pod",
        &pod,
        &[
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
        ],
    );
}

#[test]
fn files_of_a_volume_do_not_hide_each_other() {
    let items = json!([{"key": "a", "path": "x"}, {"key": "b", "path": "x/y"}]);
    let volume = json!({"name": "v", "configMap": {"name": "c", "items": items}});
    check(
        "apps",
        "Deployment",
        &deployment(&json!({"volumes": [volume]})),
        &["volume \"v\" (ConfigMap \"c\"): overlapping paths: \"x/y\" with \"x\""],
    );
}
