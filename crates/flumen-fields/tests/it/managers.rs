//! Entries of managed fields: when there are any, in which order, how many.

use flumen_fields::{Filter, ScalePaths, Write, scale_from_parent, scale_to_parent, update};
use serde_json::{Value, json};

use crate::subject::Subject;

#[test]
fn an_update_owns_what_it_changes() {
    let mut object = Subject::config_map();
    object.update("editor", json!({"data": {"a": "1", "b": "1"}}));
    assert_eq!(object.owned("editor"), json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}}));
    object.update("other", json!({"data": {"a": "1", "b": "2"}}));
    assert_eq!(object.owned("editor"), json!({"f:data": {".": {}, "f:a": {}}}));
    assert_eq!(object.owned("other"), json!({"f:data": {"f:b": {}}}));
    assert_eq!(object.entries(), ["editor Update 1", "other Update 2"]);
}

#[test]
fn an_update_of_the_same_values_owns_nothing() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1"}}));
    let before = object.live.clone();
    object.update("editor", json!({"data": {"a": "1"}}));
    assert_eq!(object.live, before);
}

#[test]
fn an_update_that_removes_takes_it_from_everybody() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1", "b": "1"}}));
    object.apply("beta", json!({"data": {"a": "1"}}));
    object.update("editor", json!({"data": {"b": "1"}}));
    assert_eq!(object.entries(), ["alpha Apply 1"]);
    assert_eq!(object.owned("alpha"), json!({"f:data": {"f:b": {}}}));
}

#[test]
fn updates_of_one_manager_are_one_entry_with_the_later_time() {
    let mut object = Subject::config_map();
    object.update("editor", json!({"data": {"a": "1"}}));
    object.update("editor", json!({"data": {"a": "1", "b": "1"}}));
    assert_eq!(object.entries(), ["editor Update 2"]);
    assert_eq!(object.owned("editor"), json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}}));
}

#[test]
fn those_who_apply_come_first_then_time_then_name() {
    let mut object = Subject::config_map();
    object.update("zeta", json!({"data": {"a": "1"}}));
    object.apply("beta", json!({"data": {"b": "1"}}));
    object.apply("alpha", json!({"data": {"c": "1"}}));
    object.apply("omega", json!({"data": {"c": "1"}}));
    object.apply("delta", json!({"data": {"c": "1"}}));
    assert_eq!(
        object.entries(),
        ["delta Apply -", "omega Apply -", "beta Apply 2", "alpha Apply 3", "zeta Update 1"]
    );
}

#[test]
fn the_oldest_of_more_than_ten_updates_are_merged() {
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"z": "1"}}));
    let mut data = serde_json::Map::from_iter([("z".to_owned(), json!("1"))]);
    for n in 0..12 {
        data.insert(format!("k{n:02}"), json!("1"));
        object.update(&format!("m{n:02}"), json!({"data": data}));
    }
    let entries = object.entries();
    assert_eq!(entries.len(), 11);
    assert_eq!(entries[..3], ["alpha Apply 1", "ancient-changes Update 4", "m03 Update 5"]);
    assert_eq!(
        object.owned("ancient-changes"),
        json!({"f:data": {"f:k00": {}, "f:k01": {}, "f:k02": {}}})
    );
}

#[test]
fn an_empty_list_or_entry_forgets_all_managers() {
    for reset in [json!([]), json!([{}]), json!([{"manager": "", "time": null}])] {
        let mut object = Subject::config_map();
        object.apply("alpha", json!({"data": {"a": "1"}}));
        let sent = json!({"metadata": {"managedFields": reset}, "data": {"a": "1", "b": "1"}});
        object.update("editor", sent);
        assert_eq!(object.managed(), [] as [Value; 0], "{reset}");
        object.update("editor", json!({"data": {"a": "2", "b": "1"}}));
        assert_eq!(object.managed(), [] as [Value; 0], "{reset}");
        object.apply("alpha", json!({"data": {"a": "2", "c": "1"}}));
        assert_eq!(object.entries(), ["alpha Apply 4", "before-first-apply Update 4"]);
        assert_eq!(
            object.owned("before-first-apply"),
            json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}})
        );
    }
}

#[test]
fn managed_fields_may_be_sent_but_nonsense_is_ignored() {
    let entry = json!({"manager": "m", "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}, "x:future": {}},
        "time": "2020-01-01T00:00:00Z"});
    let mut object = Subject::config_map();
    object.apply("alpha", json!({"data": {"a": "1"}}));
    object.update("editor", json!({"metadata": {"managedFields": [entry]}, "data": {"a": "1"}}));
    assert_eq!(object.entries(), ["m Update 0"]);
    assert_eq!(object.owned("m"), json!({"f:data": {"f:a": {}}}));
    for (name, value) in [
        ("operation", json!("Guess")),
        ("apiVersion", json!("")),
        ("fieldsType", json!("FieldsV2")),
        ("fieldsType", json!(null)),
        ("fieldsV1", json!({"f": {}})),
        ("fieldsV1", json!({"data": {}})),
        ("fieldsV1", json!({"f:data": {"v:{": {}}})),
        ("fieldsV1", json!("text")),
    ] {
        let before = object.live.clone();
        let mut broken = entry.clone();
        broken[name] = value.clone();
        let sent = json!({"metadata": {"managedFields": [broken]}, "data": {"a": "1"}});
        object.update("editor", sent);
        assert_eq!(object.live, before, "{name} {value}");
    }
}

#[test]
fn a_subresource_does_not_change_the_entries_of_others() {
    let mut object = Subject::deployment();
    object.apply("alpha", json!({"spec": {"paused": true}}));
    let sent = json!({"metadata": {"managedFields": []}, "spec": {"paused": true, "replicas": 1}});
    object.update_at("scale", "scaler", sent);
    assert_eq!(object.entries(), ["alpha Apply 1", "scaler Update 2"]);
    assert_eq!(object.managed()[1]["subresource"], "scale");
}

#[test]
fn who_has_no_name_is_unknown() {
    let mut object = Subject::config_map();
    object.update("", json!({"data": {"a": "1"}}));
    assert_eq!(object.entries(), ["unknown Update 1"]);
}

#[test]
fn what_tells_an_object_belongs_to_nobody() {
    let mut object = Subject::config_map();
    let metadata = json!({"namespace": "n", "uid": "u", "generation": 1, "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z"});
    object.apply("alpha", json!({"metadata": metadata}));
    assert_eq!(object.managed(), [] as [Value; 0]);
}

#[test]
fn nobody_owns_what_an_endpoint_drops() {
    let object = Subject::deployment();
    let mut new = object.sent(json!({"spec": {"paused": true}, "status": {"replicas": 1}}));
    let write = Write {
        versions: &object.kind,
        api_version: "apps/v1",
        kind: "Deployment",
        subresource: "",
        filter: &Filter::of_builtin("Deployment", "", true),
        now: "2026-01-01T00:00:00Z",
    };
    update(&write, None, &mut new, "editor");
    let fields = &new["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(*fields, json!({"f:spec": {".": {}, "f:paused": {}}}));
}

#[test]
fn a_scale_has_the_entries_that_own_replicas() {
    let paths = ScalePaths(&[("apps/v1", Some(&["spec", "replicas"]))]);
    let mut object = Subject::deployment();
    object.apply("alpha", json!({"spec": {"paused": true, "replicas": 1}}));
    object.apply("beta", json!({"spec": {"paused": true}}));
    let parent = Value::from(object.managed());
    let of_scale = scale_from_parent(Some(&parent), paths);
    let entry = json!({"manager": "alpha", "operation": "Apply", "apiVersion": "autoscaling/v1",
        "time": "2026-01-01T00:00:01Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}});
    assert_eq!(of_scale, Some(json!([entry])));

    let unchanged = scale_to_parent(Some(&parent), of_scale.as_ref(), "apps/v1", paths);
    assert_eq!(unchanged, Ok(Some(parent.clone())));

    let taken = json!([{"manager": "hpa", "operation": "Update", "apiVersion": "autoscaling/v1",
        "time": "2026-01-01T00:00:09Z", "subresource": "scale", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let after = scale_to_parent(Some(&parent), Some(&taken), "apps/v1", paths);
    let after = after.expect("the entries are well-formed").expect("there are entries");
    assert_eq!(after[1]["fieldsV1"], json!({"f:spec": {"f:paused": {}}}));
    assert_eq!(
        after[2],
        json!({"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
            "subresource": "scale", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}}})
    );
}
