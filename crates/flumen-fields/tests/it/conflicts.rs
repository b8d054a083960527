//! Fields that somebody else owns.

use flumen_fields::ApplyError;
use serde_json::{Value, json};

use crate::subject::Subject;

#[test]
fn one_conflict_is_named_in_one_line() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1"}}));
    let before = object.live.clone();
    assert_eq!(
        object.refused("beta", json!({"data": {"a": "2"}})),
        "Apply failed with 1 conflict: conflict with \"alpha\": .data.a"
    );
    assert_eq!(object.live, before);
}

#[test]
fn several_conflicts_are_grouped_by_manager() {
    let mut object = Subject::config_map();
    object.apply("zeta", json!({"data": {"a": "1", "b": "1"}}));
    object.apply("alpha", json!({"data": {"a": "1"}}));
    object.update("editor", json!({"data": {"a": "1", "b": "1", "e": "1"}}));
    let error = object
        .try_apply("beta", json!({"data": {"a": "2", "b": "2", "e": "2"}}), false)
        .expect_err("others own them");
    assert_eq!(
        error.to_string(),
        "Apply failed with 4 conflicts: conflicts with \"alpha\":\n- .data.a\n\
         conflicts with \"editor\" using v1:\n- .data.e\n\
         conflicts with \"zeta\":\n- .data.a\n- .data.b"
    );
    let ApplyError::Conflicts(conflicts) = error else { panic!("not a conflict: {error}") };
    let causes: Vec<(String, String)> =
        conflicts.each().into_iter().map(|cause| (cause.field, cause.message)).collect();
    assert_eq!(causes.len(), 4);
    let of_editor = (".data.e".to_owned(), "conflict with \"editor\" using v1".to_owned());
    assert!(causes.contains(&of_editor));
}

#[test]
fn an_update_by_a_subresource_is_named_with_it() {
    let mut object = Subject::deployment();
    object.apply("alpha", json!({"spec": {"paused": true}}));
    object.update_at("scale", "scaler", json!({"spec": {"paused": true, "replicas": 3}}));
    assert_eq!(
        object.refused("alpha", json!({"spec": {"paused": true, "replicas": 4}})),
        "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" using \
         apps/v1: .spec.replicas"
    );
}

#[test]
fn one_name_that_updates_and_applies_is_two_managers() {
    let mut object = Subject::config_map();
    object.update("same", json!({"data": {"a": "1"}}));
    assert_eq!(
        object.refused("same", json!({"data": {"a": "2"}})),
        "Apply failed with 1 conflict: conflict with \"same\" using v1: .data.a"
    );
}

#[test]
fn force_takes_fields_from_their_owners() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1", "b": "1"}}));
    object.force("beta", json!({"data": {"a": "2"}}));
    assert_eq!(object.owned("alpha"), json!({"f:data": {"f:b": {}}}));
    assert_eq!(object.owned("beta"), json!({"f:data": {"f:a": {}}}));
    object.force("beta", json!({"data": {"a": "2", "b": "2"}}));
    assert_eq!(object.entries(), ["beta Apply 3"]);
}

#[test]
fn whole_values_conflict_as_a_whole() {
    let mut object = Subject::deployment();
    object.apply(
        "alpha",
        json!({"spec": {"selector": {"matchLabels": {"a": "1"}}, "template":
        {"spec": {"tolerations": [{"key": "k"}], "containers": [{"name": "c", "image": "i"}]}}}}),
    );
    for (spec, field) in [
        (json!({"selector": {"matchLabels": {"b": "1"}}}), ".spec.selector"),
        (
            json!({"template": {"spec": {"tolerations": [{"key": "l"}]}}}),
            ".spec.template.spec.tolerations",
        ),
        (
            json!({"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}),
            ".spec.template.spec.containers[name=\"c\"].image",
        ),
    ] {
        assert_eq!(
            object.refused("beta", json!({"spec": spec})),
            format!("Apply failed with 1 conflict: conflict with \"alpha\": {field}")
        );
    }
}

#[test]
fn an_owned_empty_map_is_in_the_way_of_its_fields() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {}}));
    // Stored objects have no empty maps.
    let live = object.live.as_mut().and_then(Value::as_object_mut).expect("it was written");
    live.remove("data");
    assert_eq!(
        object.refused("beta", json!({"data": {"a": "1"}})),
        "Apply failed with 1 conflict: conflict with \"alpha\": .data"
    );
}

#[test]
fn values_are_compared_as_they_are_written() {
    let mut object = Subject::service();
    object.apply("alpha", json!({"spec": {"ports": [{"port": 80, "targetPort": 80}]}}));
    assert_eq!(
        object.refused("beta", json!({"spec": {"ports": [{"port": 80, "targetPort": "80"}]}})),
        "Apply failed with 1 conflict: conflict with \"alpha\": \
         .spec.ports[port=80,protocol=\"TCP\"].targetPort"
    );
}
