use serde_json::{Value, json};

use super::*;

#[track_caller]
fn check(object: Value, patch: Value, expected: std::result::Result<Value, &str>) {
    let of = Facts::get().kind("apps", "v1", "Deployment").expect("it is served").object;
    let Value::Object(patch) = patch else { panic!("a patch is a map") };
    let done = strategic_merge(object, patch, of).map_err(|error| error.to_string());
    assert_eq!(done, expected.map_err(str::to_owned));
}

#[expect(clippy::needless_pass_by_value, reason = "items are made in place")]
fn containers(items: Value) -> Value {
    json!({"spec": {"template": {"spec": {"containers": items}}}})
}

#[test]
fn lists_merge_by_their_key() {
    check(
        containers(json!([{"name": "a", "image": "1"}, {"name": "b"}])),
        containers(json!([{"name": "c"}, {"name": "a", "args": ["x"]}])),
        Ok(containers(
            json!([{"name": "c"}, {"name": "a", "image": "1", "args": ["x"]}, {"name": "b"}]),
        )),
    );
}

#[test]
fn directives_delete_and_replace() {
    check(
        containers(json!([{"name": "a"}, {"name": "b"}])),
        containers(json!([{"name": "a", "$patch": "delete"}])),
        Ok(containers(json!([{"name": "b"}]))),
    );
    check(
        containers(json!([{"name": "a"}, {"name": "b"}])),
        containers(json!([{"$patch": "replace"}, {"name": "c"}])),
        Ok(containers(json!([{"name": "c"}]))),
    );
    check(
        json!({"metadata": {"labels": {"a": "1"}}}),
        json!({"metadata": {"labels": {"$patch": "delete"}}}),
        Ok(json!({"metadata": {"labels": {}}})),
    );
    check(
        json!({"metadata": {"finalizers": ["a", "b"]}}),
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
        Ok(json!({"metadata": {"finalizers": ["b"]}})),
    );
}

#[test]
fn the_order_is_that_of_the_directive() {
    check(
        containers(json!([{"name": "a"}, {"name": "b"}, {"name": "c"}])),
        json!({"spec": {"template": {"spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "2"}],
        }}}}),
        Ok(containers(json!([{"name": "b"}, {"name": "c"}, {"name": "a", "image": "2"}]))),
    );
}

#[test]
fn retained_keys_drop_others() {
    check(
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}}}),
        json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
        Ok(json!({"spec": {"strategy": {"type": "Recreate"}}})),
    );
    check(
        json!({"spec": {"strategy": {}}}),
        json!({"spec": {"strategy": {"$retainKeys": [], "type": "Recreate"}}}),
        Err("invalid patch format of retainKeys"),
    );
}

#[test]
fn mistakes_are_named() {
    check(
        containers(json!([{"name": "a"}])),
        containers(json!([{"image": "x"}])),
        Err("map: map[image:x] does not contain declared merge key: name"),
    );
    check(
        containers(json!([{"name": "a"}])),
        containers(json!([{"name": "a", "$patch": "nope"}])),
        Err("unknown patch type: nope in map: map[$patch:nope name:a]"),
    );
}

#[test]
fn directives_that_are_no_text_are_named_as_go_does() {
    let directives = [
        (json!(null), "%!s(<nil>)", "<nil>"),
        (json!(1.5), "%!s(float64=1.5)", "1.5"),
        (json!([true, "x"]), "[%!s(bool=true) x]", "[true x]"),
    ];
    for (directive, named, shown) in directives {
        let message = format!("unknown patch type: {named} in map: map[$patch:{shown}]");
        check(json!({"spec": {}}), json!({"spec": {"$patch": directive}}), Err(&message));
    }
}

#[test]
fn the_first_item_says_what_a_list_is_of() {
    let ports = |ports: Value| json!({"spec": {"template": {"spec": {"containers": ports}}}});
    check(ports(json!([])), ports(json!([["x"]])), Err("lists of lists are not supported"));
    let message = "list element types are not identical: [[map[name:a]] [[x]]]";
    check(ports(json!([{"name": "a"}])), ports(json!([["x"]])), Err(message));
}
