//! Names, conditions, and the order of versions.

use flumen_crd::{accept_names, compare_versions, establish, prepare_create, prepare_update};
use jiff::Timestamp;
use serde_json::json;

use crate::definition;

#[test]
fn a_definition_gets_its_names_and_is_served() {
    let mut widgets = definition(&json!({"type": "object"}));
    prepare_create(&mut widgets);
    let now: Timestamp = "2030-01-02T03:04:05.678Z".parse().expect("a time");
    widgets["status"] = accept_names(&widgets, [], now).expect("names");
    assert_eq!(widgets["status"]["acceptedNames"], widgets["spec"]["names"]);
    assert_eq!(widgets["status"]["storedVersions"], json!(["v1"]));
    widgets["status"] = establish(&widgets, now).expect("established");
    let conditions = json!([
        {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts",
         "message": "no conflicts found", "lastTransitionTime": "2030-01-02T03:04:05Z"},
        {"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
         "message": "the initial names have been accepted",
         "lastTransitionTime": "2030-01-02T03:04:05Z"},
    ]);
    assert_eq!(widgets["status"]["conditions"], conditions);
    assert_eq!(accept_names(&widgets, [], now), None);
    assert_eq!(establish(&widgets, now), None);

    let mut gadgets = definition(&json!({"type": "object"}));
    gadgets["metadata"]["name"] = "gadgets.example.com".into();
    gadgets["spec"]["names"]["plural"] = "gadgets".into();
    gadgets["status"] = accept_names(&gadgets, [&widgets], now).expect("a refusal");
    assert_eq!(gadgets["status"]["acceptedNames"], json!({"kind": "", "plural": "gadgets"}));
    let naming = &gadgets["status"]["conditions"][0];
    assert_eq!(naming["reason"], "ListKindConflict");
    assert_eq!(naming["message"], "\"WidgetList\" is already in use");
    assert_eq!(gadgets["status"]["conditions"][1]["reason"], "NotAccepted");
    assert_eq!(establish(&gadgets, now), None);
    assert_eq!(accept_names(&gadgets, [&widgets], now), None);
    assert!(accept_names(&gadgets, [], now).is_some());
}

#[test]
fn a_new_storage_version_joins_the_old() {
    let mut old = definition(&json!({"type": "object"}));
    prepare_create(&mut old);
    let mut new = old.clone();
    new["spec"]["versions"][0]["name"] = "v2".into();
    new["status"] = json!({"storedVersions": ["lie"]});
    prepare_update(&mut new, &old);
    assert_eq!(new["status"]["storedVersions"], json!(["v1", "v2"]));
    assert_eq!(new["metadata"]["generation"], 2);
}

#[test]
fn stable_and_new_versions_come_first() {
    let mut versions =
        ["foo", "v1alpha1", "v1", "v11alpha2", "v1beta2", "v10", "v2", "v1beta10", "v01"];
    versions.sort_by(|a, b| compare_versions(a, b));
    let expected =
        ["v10", "v2", "v1", "v1beta10", "v1beta2", "v11alpha2", "v1alpha1", "foo", "v01"];
    assert_eq!(versions, expected);
}
