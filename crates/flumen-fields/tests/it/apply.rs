//! What an apply changes, and what it leaves.

use serde_json::{Value, json};

use crate::subject::Subject;

#[test]
fn the_first_apply_owns_what_was_sent_and_nothing_else() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"metadata": {"labels": {"l": "1"}}, "data": {"a": "1"}}));
    assert_eq!(object.fields(), json!({"metadata": {"labels": {"l": "1"}}, "data": {"a": "1"}}));
    assert_eq!(
        object.managed(),
        [json!({"manager": "alpha", "operation": "Apply", "apiVersion": "v1",
            "time": "2026-01-01T00:00:01Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:l": {}}}, "f:data": {"f:a": {}}}})]
    );
}

#[test]
fn the_same_again_changes_nothing() {
    let mut object = Subject::deployment();
    let config = json!({"spec": {"replicas": 2, "template": {"spec": {"containers":
        [{"name": "app", "image": "img:1", "ports": [{"containerPort": 80}]}]}}}});
    object.apply("alpha", config.clone());
    let before = object.live.clone();
    object.apply("alpha", config);
    assert_eq!(object.live, before);
}

#[test]
fn a_changed_value_has_a_new_time() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1"}}));
    object.apply("alpha", json!({"data": {"a": "2"}}));
    assert_eq!(object.entries(), ["alpha Apply 2"]);
    assert_eq!(object.fields(), json!({"data": {"a": "2"}}));
}

#[test]
fn who_sends_what_is_there_shares_it_and_has_no_time() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1", "x": "1"}}));
    object.apply("beta", json!({"data": {"a": "1"}}));
    assert_eq!(object.entries(), ["beta Apply -", "alpha Apply 1"]);
    object.apply("alpha", json!({"data": {"x": "1"}}));
    assert_eq!(object.fields(), json!({"data": {"a": "1", "x": "1"}}));
    object.apply("beta", json!({"data": {"a": "2"}}));
    assert_eq!(object.fields(), json!({"data": {"a": "2", "x": "1"}}));
    assert_eq!(object.entries(), ["alpha Apply 1", "beta Apply 4"]);
}

#[test]
fn what_is_no_longer_sent_goes_unless_another_owns_it() {
    let mut object = Subject::config_map();
    object.update("editor", json!({"data": {"u": "0"}}));
    object.apply("alpha", json!({"data": {"a": "1", "b": "1", "c": "1"}}));
    object.apply("beta", json!({"data": {"b": "1"}}));
    object.apply("alpha", json!({"data": {"c": "1"}}));
    assert_eq!(object.fields(), json!({"data": {"b": "1", "c": "1", "u": "0"}}));
    assert_eq!(object.owned("alpha"), json!({"f:data": {"f:c": {}}}));
    object.apply("alpha", json!({}));
    assert_eq!(object.entries(), ["beta Apply -", "editor Update 1"]);
    assert_eq!(object.fields(), json!({"data": {"b": "1", "u": "0"}}));
}

#[test]
fn a_map_goes_with_its_last_field() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"metadata": {"labels": {"l": "1"}}, "data": {"a": "1"}}));
    object.apply("alpha", json!({}));
    assert_eq!(object.fields(), json!({}));
    assert_eq!(object.managed(), [] as [Value; 0]);
}

#[test]
fn a_structure_goes_with_the_fields_that_nobody_owns() {
    let mut object = Subject::deployment();
    object.apply("alpha", json!({"spec": {"replicas": 1, "strategy": {"type": "Recreate"}}}));
    let mut defaulted = object.live.clone().expect("the object was written");
    defaulted["spec"]["strategy"]["rollingUpdate"] = json!({"maxSurge": 1});
    object.live = Some(defaulted);
    object.apply("alpha", json!({"spec": {"replicas": 1}}));
    assert_eq!(object.fields(), json!({"spec": {"replicas": 1}}));
}

#[test]
fn empty_values_are_owned() {
    for (sent, owned) in [
        (json!({"data": {}}), json!({"f:data": {}})),
        (json!({"data": null}), json!({"f:data": {}})),
        (json!({"data": {"a": null}}), json!({"f:data": {"f:a": {}}})),
        (json!({"immutable": null}), json!({"f:immutable": {}})),
    ] {
        let mut object = Subject::config_map();
        object.apply("alpha", sent.clone());
        assert_eq!(object.owned("alpha"), owned, "{sent}");
    }
}

#[test]
fn a_null_removes_nothing() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1"}}));
    object.apply("beta", json!({"data": null}));
    assert_eq!(object.fields(), json!({"data": {"a": "1"}}));
}

#[test]
fn what_the_schema_does_not_allow_is_refused() {
    let prefix = "failed to create typed patch object (/x; example.com/v1, Kind=Widget): ";
    for (spec, message) in [
        (json!({"nope": 1}), ".spec.nope: field not declared in schema"),
        (json!({"size": "two"}), ".spec.size: expected numeric (int or float), got string"),
        (json!({"on": "x"}), ".spec.on: expected boolean, got &{x}"),
        (
            json!({"tags": [1]}),
            ".spec.tags[=1]: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"tags": {"a": 1}}), ".spec.tags: expected list, got &{map[a:1]}"),
        (json!({"labels": ["a", "b"]}), ".spec.labels: expected map, got &{[a b]}"),
        (json!([]), ".spec: expected map, got &{[]}"),
        (json!({"tags": ["a", "b", "a"]}), r#".spec.tags: duplicate entries for key [="a"]"#),
        (
            json!({"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}),
            r#".spec.ports: duplicate entries for key [port=1,protocol="TCP"]"#,
        ),
        (
            json!({"items": [{"value": 1}]}),
            ".spec.items: element 0: associative list with keys has an element that omits all key \
             fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"items": [{"name": "a"}, null]}),
            ".spec.items: element 1: associative list with keys may not have a null element",
        ),
        (
            json!({"tags": [{}]}),
            ".spec.tags: element 0: associative list without keys has an element that's a map type",
        ),
        (
            json!({"on": 1.5, "size": true}),
            "errors:\n  .spec.on: expected boolean, got &{1.5}\n  .spec.size: expected numeric \
             (int or float), got bool",
        ),
    ] {
        let refused = Subject::widget().refused("alpha", json!({"spec": spec}));
        assert_eq!(refused, format!("{prefix}{message}"), "{spec}");
    }
}

#[test]
fn a_configuration_of_something_else_is_refused() {
    let mut object = Subject::config_map();
    let message = object.refused("alpha", json!({"kind": "Secret"}));
    assert_eq!(message, "invalid object type: /v1, Kind=Secret");
    let message = object.refused("alpha", json!({"apiVersion": "apps/v1"}));
    assert_eq!(message, "invalid object type: apps/v1, Kind=ConfigMap");
    let message = object.refused("alpha", json!({"metadata": {"managedFields": []}}));
    assert_eq!(message, "metadata.managedFields must be nil");
    object.apply("alpha", json!({"metadata": {"managedFields": null}}));
}

#[test]
fn unknown_values_are_owned_by_key_and_lists_as_a_whole() {
    let mut object = Subject::widget();
    object.apply("alpha", json!({"spec": {"any": {"m": {"a": 1}, "l": [{"a": 1}]}}}));
    object.apply("beta", json!({"spec": {"any": {"m": {"b": 2}}}}));
    assert_eq!(
        object.owned("alpha"),
        json!({"f:spec": {"f:any": {"f:m": {".": {}, "f:a": {}}, "f:l": {}}}})
    );
    object.force("beta", json!({"spec": {"any": {"m": 7}}}));
    assert_eq!(object.fields(), json!({"spec": {"any": {"m": 7, "l": [{"a": 1}]}}}));
    assert_eq!(object.owned("alpha"), json!({"f:spec": {"f:any": {"f:l": {}}}}));
}

#[test]
fn the_annotation_of_client_side_apply_follows_for_kubectl_alone() {
    let name = "kubectl.kubernetes.io/last-applied-configuration";
    let sent = json!({"metadata": {"annotations": {name: "{}"}}, "data": {"a": "<"}});
    let mut object = Subject::config_map();
    object.apply("alpha", sent.clone());
    assert_eq!(object.fields()["metadata"]["annotations"][name], "{}");
    let mut object = Subject::config_map();
    object.apply("kubectl", sent);
    assert_eq!(
        object.fields()["metadata"]["annotations"][name],
        "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"\\u003c\"},\"kind\":\"ConfigMap\",\
         \"metadata\":{\"annotations\":{},\"name\":\"x\"}}\n"
    );
}

#[test]
fn kubectl_goes_on_with_what_it_applied_on_the_client_side() {
    let name = "kubectl.kubernetes.io/last-applied-configuration";
    let mut object = Subject::config_map();
    let last = object.sent(json!({"data": {"a": "1", "b": "1"}})).to_string();
    object.update(
        "kubectl-client-side-apply",
        json!({"metadata": {"annotations": {name: last}}, "data": {"a": "1", "b": "9"}}),
    );
    object.apply("kubectl", json!({"data": {"a": "2"}}));
    assert_eq!(object.fields()["data"], json!({"a": "2", "b": "9"}));
    let refused = object.refused("kubectl", json!({"data": {"a": "2", "b": "2"}}));
    assert_eq!(
        refused,
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.b"
    );
}
