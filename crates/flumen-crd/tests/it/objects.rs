//! Objects against schemas.

use serde_json::{Value, json};

use crate::{texts, version, widget, with_spec};

#[track_caller]
fn check(spec: &Value, object: &Value, expected: &[&str]) {
    let version = version(&with_spec(spec));
    assert_eq!(texts(&version.validate_create(&widget(object)).errors), expected);
}

#[track_caller]
fn update(spec: &Value, old: &Value, new: &Value, expected: &[&str]) {
    let version = version(&with_spec(spec));
    let numbered = |spec| {
        let mut object = widget(spec);
        object["metadata"]["resourceVersion"] = "1".into();
        object
    };
    let verdict = version.validate_update(&numbered(new), &numbered(old));
    assert_eq!(texts(&verdict.errors), expected);
}

#[test]
fn values_are_what_the_schema_says() {
    let spec = json!({"type": "object", "required": ["r"], "properties": {
        "r": {"type": "string", "minLength": 2, "maxLength": 3},
        "n": {"type": "number", "maximum": 2.5, "exclusiveMaximum": true, "multipleOf": 0.5},
        "m": {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 1},
        "c": {"type": "integer", "enum": [1, 2]},
        "d": {"type": "string", "format": "date-time"},
        "z": {"type": "string", "nullable": true},
    }});
    check(&spec, &json!({"r": "ab", "n": 2.0, "m": {"k": true}, "c": 2, "z": null}), &[]);
    check(&spec, &json!({}), &["spec.r: Required value"]);
    check(
        &spec,
        &json!({"r": "abcd", "n": 2.5, "m": {"k": 1, "l": true}, "c": 3, "d": "x"}),
        &[
            "spec.c: Unsupported value: 3: supported values: \"1\", \"2\"",
            "spec.d: Invalid value: \"x\": spec.d in body must be of type date-time: \"x\"",
            "spec.m: Too many: 2: must have at most 1 item",
            "spec.m.k: Invalid value: \"integer\": spec.m.k in body must be of type boolean: \
             \"integer\"",
            "spec.n: Invalid value: 2.5: spec.n in body should be less than 2.5",
            "spec.r: Too long: may not be more than 3 bytes",
        ],
    );
    check(
        &json!({"type": "object", "additionalProperties": false}),
        &json!({"k": 1}),
        &["spec: Invalid value: \"k\": spec.k in body is a forbidden property"],
    );
}

#[test]
fn elements_without_a_key_are_never_unchanged() {
    let keyed = json!({"type": "object", "properties": {"list": {"type": "array",
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "required": ["k"], "properties": {
            "k": {"type": "integer"}, "v": {"type": "integer"}}}}}});
    let wrong_value = json!({"list": [{"k": 1, "v": "x"}]});
    update(&keyed, &wrong_value, &wrong_value, &[]);
    let wrong_key = json!({"list": [{"k": ["x"]}]});
    let problem = "spec.list[0].k: Invalid value: \"array\": spec.list[0].k in body must be of type \
                   integer: \"array\"";
    update(&keyed, &wrong_key, &wrong_key, &[problem]);
}

#[test]
fn alternatives_tell_the_best_of_their_problems() {
    let spec = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(&spec, &json!({"a": 1}), &[]);
    check(
        &spec,
        &json!({"a": 1, "b": 2}),
        &["<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). \
           Found 2 valid alternatives"],
    );
    check(
        &spec,
        &json!({}),
        &[
            "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). \
             Found none valid",
            "spec.a: Required value",
        ],
    );
}

#[test]
fn unchanged_problems_are_let_pass() {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "string", "enum": ["good"]},
        "b": {"type": "string"},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
              "items": {"type": "object", "required": ["k"], "properties": {
                  "k": {"type": "string"}, "v": {"type": "integer", "maximum": 1}}}},
        "atomic": {"type": "array", "items": {"type": "integer", "maximum": 1}},
    }});
    update(&spec, &json!({"a": "bad"}), &json!({"a": "bad", "b": "new"}), &[]);
    update(
        &spec,
        &json!({"a": "bad"}),
        &json!({"a": "worse"}),
        &["spec.a: Unsupported value: \"worse\": supported values: \"good\""],
    );
    let item = |k: &str, v: i64| json!({"k": k, "v": v});
    update(&spec, &json!({"l": [item("x", 5)]}), &json!({"l": [item("y", 1), item("x", 5)]}), &[]);
    update(
        &spec,
        &json!({"l": [item("x", 5)]}),
        &json!({"l": [item("x", 6)]}),
        &["spec.l[0].v: Invalid value: 6: spec.l[0].v in body should be less than or equal to 1"],
    );
    let problem = "spec.atomic[0]: Invalid value: 5: spec.atomic[0] in body should be less than or \
                   equal to 1";
    update(&spec, &json!({"atomic": [5]}), &json!({"atomic": [5, 1]}), &[problem]);
}

#[test]
fn objects_within_objects_have_metadata_too() {
    let spec = json!({"type": "object", "x-kubernetes-embedded-resource": true,
                      "x-kubernetes-preserve-unknown-fields": true});
    check(&spec, &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}), &[]);
    check(
        &spec,
        &json!({"kind": "a b", "metadata": {"labels": {"a b": "c"}}}),
        &[
            "spec.apiVersion: Required value",
            "spec.kind: Invalid value: \"a b\": may have mixed case, but should otherwise match: a \
             DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
             alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or \
             'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            "spec.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric \
             characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
             'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
             '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ],
    );
    let version = version(&with_spec(&spec));
    let mut object =
        widget(&json!({"apiVersion": "v1", "kind": "K", "metadata": {"x": 1}, "any": 1}));
    object["metadata"]["y"] = 1.into();
    let unknown = version.admit(&mut object).expect("an object");
    assert_eq!(unknown, ["metadata.y", "spec.metadata.x"]);
    assert_eq!(object["spec"], json!({"apiVersion": "v1", "kind": "K", "metadata": {}, "any": 1}));
}

#[test]
fn status_is_written_apart() {
    let mut definition = crate::definition(&json!({"type": "object",
        "x-kubernetes-preserve-unknown-fields": true}));
    definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    let served = flumen_crd::Served::new(&definition);
    let version = served.version("v1").expect("a version");
    let mut new = widget(&json!({"a": 1}));
    new["status"] = json!({"x": 1});
    version.prepare_create(&mut new);
    assert_eq!((new.get("status"), &new["metadata"]["generation"]), (None, &json!(1)));
    let mut with_status = new.clone();
    with_status["status"] = json!({"x": 2});
    with_status["spec"] = json!({"a": 2});
    version.prepare_status_update(&mut with_status, &new);
    assert_eq!((&with_status["spec"], &with_status["status"]), (&new["spec"], &json!({"x": 2})));
    let mut changed = with_status.clone();
    changed["spec"] = json!({"a": 3});
    changed["status"] = Value::Null;
    version.prepare_update(&mut changed, &with_status);
    assert_eq!(changed["status"], json!({"x": 2}));
    assert_eq!(changed["metadata"]["generation"], 2);
}

#[test]
fn a_status_that_was_not_there_may_stay_null() {
    let version = version(&json!({"type": "object", "properties": {"status": {"type": "object"}}}));
    let with_status = |status: Option<Value>| {
        let mut object = widget(&json!({}));
        object["metadata"]["resourceVersion"] = "1".into();
        if let Some(status) = status {
            object["status"] = status;
        }
        object
    };
    let null = with_status(Some(Value::Null));
    let errors = |old| texts(&version.validate_status_update(&null, &with_status(old)).errors);
    assert!(errors(None).is_empty());
    // The real server names no field there, either.
    let refused = "status: Invalid value: \"null\":  in body must be of type object: \"null\"";
    assert_eq!(errors(Some(json!({}))), [refused]);
}
