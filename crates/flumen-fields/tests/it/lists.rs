//! Lists whose items have owners of their own.

use serde_json::{Value, json};

use crate::subject::Subject;

fn items(names: &str) -> Value {
    let items = names.chars().map(|name| json!({"name": name.to_string()}));
    json!({"spec": {"items": items.collect::<Vec<_>>()}})
}

fn names(object: &Subject) -> String {
    let fields = object.fields();
    let items = fields["spec"]["items"].as_array().map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|item| item["name"].as_str()).collect()
}

#[test]
fn the_order_of_the_configuration_wins() {
    for (before, after) in [
        ("abc", "abcd"),
        ("abc", "zabc"),
        ("abc", "axbc"),
        ("abc", "cba"),
        ("abc", "cxa"),
        ("ab", "cd"),
    ] {
        let mut object = Subject::widget();
        object.apply("alpha", items(before));
        object.apply("alpha", items(after));
        assert_eq!(names(&object), after, "{before}");
    }
}

#[test]
fn items_of_others_keep_their_place() {
    for (foreign, own, merged) in [
        ("xy", "ab", "xyab"),
        ("xay", "ab", "xayb"),
        ("ax", "ba", "bax"),
        ("axb", "ba", "xba"),
        ("xab", "cab", "xcab"),
    ] {
        let mut object = Subject::widget();
        object.apply("beta", items(foreign));
        object.apply("alpha", items(own));
        assert_eq!(names(&object), merged, "{foreign} {own}");
    }
}

#[test]
fn a_default_of_a_key_tells_items_apart() {
    let mut object = Subject::service();
    object.apply("alpha", json!({"spec": {"ports": [{"port": 80, "name": "a"}]}}));
    assert_eq!(
        object.owned("alpha"),
        json!({"f:spec": {"f:ports":
            {r#"k:{"port":80,"protocol":"TCP"}"#: {".": {}, "f:port": {}, "f:name": {}}}}})
    );
    object
        .apply("alpha", json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "a"}]}}));
    assert_eq!(
        object.fields(),
        json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "a"}]}})
    );
}

#[test]
fn a_key_that_is_not_sent_may_be_empty() {
    let mut object = Subject::deployment();
    let containers = json!([{"image": "i"}]);
    let pod = json!({"containers": containers, "imagePullSecrets": [{}]});
    object.apply("alpha", json!({"spec": {"template": {"spec": pod}}}));
    assert_eq!(
        object.owned("alpha"),
        json!({"f:spec": {"f:template": {"f:spec": {
            "f:containers": {r#"k:{"name":""}"#: {".": {}, "f:image": {}}},
            "f:imagePullSecrets": {r#"k:{"name":""}"#: {}}}}}})
    );
}

#[test]
fn an_item_stays_for_the_field_of_another() {
    let mut object = Subject::widget();
    object.apply("alpha", json!({"spec": {"items": [{"name": "a", "value": 1}, {"name": "b"}]}}));
    object.apply("beta", json!({"spec": {"items": [{"name": "a", "value": 1}]}}));
    object.apply("alpha", json!({"spec": {"items": [{"name": "b"}]}}));
    assert_eq!(names(&object), "ab");
    object.apply("beta", json!({}));
    assert_eq!(names(&object), "b");
}

#[test]
fn items_of_a_set_are_shared() {
    let mut object = Subject::widget();
    object.apply("alpha", json!({"spec": {"tags": ["a", "b"], "numbers": [2, 10, 1]}}));
    object.apply("beta", json!({"spec": {"tags": ["c", "b"]}}));
    assert_eq!(object.fields()["spec"]["tags"], json!(["a", "c", "b"]));
    object.apply("alpha", json!({"spec": {"tags": ["a"], "numbers": [10, 1]}}));
    assert_eq!(object.fields()["spec"], json!({"tags": ["a", "c", "b"], "numbers": [10, 1]}));
    assert_eq!(
        object.owned("alpha"),
        json!({"f:spec": {"f:numbers": {"v:1": {}, "v:10": {}}, "f:tags": {"v:\"a\"": {}}}})
    );
    object.apply("beta", json!({}));
    assert_eq!(object.fields()["spec"]["tags"], json!(["a"]));
}

#[test]
fn repeated_items_are_left_alone_until_somebody_sends_their_key() {
    let twice = json!({"spec": {"items":
        [{"name": "a", "value": 1}, {"name": "b"}, {"name": "a", "value": 2}]}});
    let mut object = Subject::widget();
    object.update("editor", twice);
    assert_eq!(
        object.owned("editor")["f:spec"]["f:items"],
        json!({".": {}, r#"k:{"name":"a"}"#: {}, r#"k:{"name":"b"}"#: {".": {}, "f:name": {}}})
    );
    object.apply("alpha", items("c"));
    assert_eq!(names(&object), "abac");
    object.force("alpha", json!({"spec": {"items": [{"name": "a", "value": 3}]}}));
    assert_eq!(object.fields()["spec"]["items"], json!([{"name": "a", "value": 3}, {"name": "b"}]));
}
