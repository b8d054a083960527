use flumen_schema::api::Api;
use serde_json::{Value, json};

use super::{nothing, prepare_create, prepare_subresource_update, prepare_update, present};

#[track_caller]
fn check_create(group: &str, kind: &str, mut object: Value, pointer: &str, expected: &Value) {
    let kind = Api::get().kind(group, "v1", kind).expect("a known kind");
    prepare_create(kind, &mut object, "2026-01-02T03:04:05Z");
    assert_eq!(object.pointer(pointer).cloned().unwrap_or_default(), *expected);
}

#[track_caller]
fn check_generation(group: &str, kind: &str, mut new: Value, old: &Value, expected: i64) {
    let kind = Api::get().kind(group, "v1", kind).expect("a known kind");
    prepare_update(kind, &mut new, old);
    assert_eq!(new.pointer("/metadata/generation"), Some(&expected.into()));
}

#[test]
fn a_status_is_reset() {
    let deployment = json!({"metadata": {"name": "a"}, "status": {"replicas": 3}});
    check_create("apps", "Deployment", deployment.clone(), "/status", &json!({}));
    check_create("apps", "Deployment", deployment, "/metadata/generation", &json!(1));
    let service = json!({"metadata": {"name": "a"}});
    check_create("", "Service", service, "/status", &json!({"loadBalancer": {}}));
}

#[test]
fn pods_have_a_class_of_service() {
    let pod = |resources: Value| json!({"spec": {"containers": [{"resources": resources}]}});
    check_create("", "Pod", pod(json!({})), "/status/qosClass", &json!("BestEffort"));
    let some = json!({"requests": {"cpu": "1"}});
    check_create("", "Pod", pod(some), "/status/qosClass", &json!("Burstable"));
    let all = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1Gi"}});
    check_create("", "Pod", pod(all), "/status/qosClass", &json!("Guaranteed"));
}

#[test]
fn jobs_select_their_pods() {
    let job = json!({"metadata": {"name": "j", "uid": "u"}, "spec": {"template": {}}});
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}});
    check_create("batch", "Job", job.clone(), "/spec/selector", &selector);
    check_create("batch", "Job", job, "/spec/template/metadata/labels/job-name", &json!("j"));
}

#[test]
fn a_change_of_the_spec_is_counted() {
    let old = json!({"metadata": {"generation": 4}, "spec": {"replicas": 1}});
    let mut new = json!({"metadata": {"generation": 9}, "spec": {"replicas": 1}});
    check_generation("apps", "StatefulSet", new.clone(), &old, 4);
    new["spec"]["replicas"] = json!(2);
    check_generation("apps", "StatefulSet", new, &old, 5);
    let annotated = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 1}});
    check_generation("apps", "Deployment", annotated, &old, 5);
}

#[test]
fn a_namespace_has_its_name_as_label() {
    let namespace = json!({"metadata": {"name": "n"}, "spec": {}});
    let label = json!({"kubernetes.io/metadata.name": "n"});
    check_create("", "Namespace", namespace.clone(), "/metadata/labels", &label);
    check_create("", "Namespace", namespace, "/spec/finalizers", &json!(["kubernetes"]));
}

#[test]
fn the_policy_of_a_name_outside_is_kept_for_later() {
    let service = |of: &str| json!({"spec": {"type": of, "internalTrafficPolicy": "Local"}});
    let kind = Api::get().kind("", "v1", "Service").expect("a known kind");
    let mut outside = service("ExternalName");
    prepare_update(kind, &mut outside, &service("ClusterIP"));
    assert_eq!(outside["spec"]["internalTrafficPolicy"], "Local");
    present(kind, &mut outside);
    assert_eq!(outside["spec"], json!({"type": "ExternalName"}));
}

#[test]
fn the_list_of_addresses_follows_the_one() {
    let kind = Api::get().kind("", "v1", "Service").expect("a known kind");
    let updated = |of: &str, addresses: Value| {
        let mut new =
            json!({"spec": {"type": of, "clusterIP": addresses[0], "clusterIPs": addresses[1]}});
        let old = json!({"spec": {"type": "ClusterIP", "clusterIP": "1.1.1.1", "clusterIPs": ["1.1.1.1"]}});
        prepare_update(kind, &mut new, &old);
        present(kind, &mut new);
        (new["spec"]["clusterIP"].clone(), new["spec"]["clusterIPs"].clone())
    };
    let both = |address: &str| (json!(address), json!([address]));
    assert_eq!(updated("ClusterIP", json!(["1.1.1.1", []])), both("1.1.1.1"));
    assert_eq!(updated("ClusterIP", json!(["", ["1.1.1.1"]])), both("1.1.1.1"));
    assert_eq!(
        updated("ClusterIP", json!(["None", []])),
        both("None"),
        "the old list, then as asked"
    );
    assert_eq!(updated("ClusterIP", json!(["None", ["1.1.1.1"]])), both("None"));
    assert_eq!(updated("ClusterIP", json!(["None", ["2.2.2.2"]])).1, json!(["2.2.2.2"]));
    assert_eq!(
        updated("ExternalName", json!(["None", []])),
        both("None"),
        "stored without, shown with"
    );
    assert_eq!(
        updated("ExternalName", json!(["1.1.1.1", ["1.1.1.1"]])),
        (Value::Null, Value::Null)
    );
}

#[test]
fn ports_on_nodes_go_with_the_type_that_has_them() {
    let service = |of: &str, ports: &[i64]| {
        let port = |node: &i64| json!({"port": 80, "name": node.to_string(), "nodePort": node});
        json!({"spec": {"type": of, "ports": ports.iter().map(port).collect::<Vec<_>>()}})
    };
    let kind = Api::get().kind("", "v1", "Service").expect("a known kind");
    let left = |ports: &[i64]| {
        let mut new = service("ClusterIP", ports);
        prepare_update(kind, &mut new, &service("NodePort", &[30_001, 30_002]));
        new["spec"]["ports"][0].get("nodePort").cloned()
    };
    assert_eq!(left(&[30_001]), None);
    assert_eq!(left(&[30_003]), Some(json!(30_003)), "it was asked for");
}

#[test]
fn a_status_says_nothing_of_how_often_a_template_changed() {
    let generation = "deprecated.daemonset.template.generation";
    let set = |count: &str| json!({"metadata": {"annotations": {generation: count}}, "spec": {}});
    let (mut new, old) = (set("2"), set("1"));
    let kind = Api::get().kind("apps", "v1", "DaemonSet").expect("a known kind");
    prepare_subresource_update(kind, "status", &mut new, &old, "2026-01-02T03:04:05Z");
    assert_eq!(new, old);
}

#[test]
fn some_kinds_have_something_when_nothing_is_known() {
    let of = |group: &str, kind: &str| {
        let kind = Api::get().kind(group, "v1", kind).expect("a known kind");
        nothing(kind, json!({}))
    };
    let controller = json!({"metadata": {}, "spec": {}, "status": {"replicas": 0}});
    assert_eq!(of("", "ReplicationController"), controller);
    assert_eq!(of("apps", "Deployment")["spec"]["replicas"], 0);
    let annotations = json!({"deprecated.daemonset.template.generation": "0"});
    assert_eq!(of("apps", "DaemonSet")["metadata"]["annotations"], annotations);
}
