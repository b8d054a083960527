//! What grows without measure must end, and end soon.

use flumen_crd::validate_create;
use serde_json::{Value, json};

use crate::{definition, texts, version, widget, with_spec};

fn nested(levels: usize, wrap: impl Fn(Value) -> Value, inner: Value) -> Value {
    (0..levels).fold(inner, |value, _| wrap(value))
}

#[test]
fn deep_schemas_and_objects() {
    let text = json!({"type": "string"});
    let schema = nested(60, |it| json!({"type": "object", "properties": {"a": it}}), text);
    let object = nested(100, |it| json!({ "a": it }), json!(1));
    let version = version(&with_spec(&schema));
    let mut object = widget(&object);
    assert_eq!(version.admit(&mut object).expect("an object").len(), 1);
    assert_eq!(version.validate_create(&object).errors.len(), 1);
    assert!(validate_create(&definition(&with_spec(&schema))).is_empty());
}

#[test]
fn alternatives_of_alternatives() {
    let many = |it: Value| json!({"anyOf": vec![it; 4]});
    let mut schema = nested(6, many, json!({"minimum": 10}));
    schema["type"] = "integer".into();
    let version = version(&with_spec(&schema));
    let errors = version.validate_create(&widget(&json!(1))).errors;
    assert!((1..10).contains(&errors.len()), "{}", errors.len());
}

#[test]
fn rules_that_never_end_are_stopped() {
    let rule = "self.all(a, self.all(b, self.all(c, a + b + c != -1)))";
    let schema = with_spec(&json!({"type": "array", "items": {"type": "integer"},
        "x-kubernetes-validations": [{ "rule": rule }, {"rule": "false"}]}));
    let version = version(&schema);
    let object = widget(&Value::from((0..300).collect::<Vec<i64>>()));
    let errors = texts(&version.validate_create(&object).errors);
    assert_eq!(
        errors,
        [format!(
            "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no \
             further validation rules will be run due to call cost exceeds limit for rule: {rule}"
        )]
    );
}

#[test]
fn all_rules_together_have_one_budget() {
    let rule = json!({"rule": "self.all(a, self.all(b, a + b != -1))"});
    let schema = with_spec(&json!({"type": "array", "items": {"type": "integer"},
        "x-kubernetes-validations": vec![rule; 40]}));
    let object = widget(&Value::from((0..230).collect::<Vec<i64>>()));
    let errors = texts(&version(&schema).validate_create(&object).errors);
    let expected = "spec: Invalid value: \"array\": validation failed due to running out of cost \
                    budget, no further validation rules will be run";
    assert_eq!(errors, [expected]);
}

#[test]
fn expressions_without_end_are_refused() {
    for rule in ["(".repeat(5000), "a.".repeat(5000), "[".repeat(100), "!".repeat(900)] {
        let schema =
            with_spec(&json!({"type": "object", "x-kubernetes-validations": [{"rule": rule}]}));
        assert!(!validate_create(&definition(&schema)).is_empty());
    }
}

#[test]
fn what_is_no_definition_does_no_harm() {
    for value in
        [json!(null), json!([]), json!({"spec": 1}), json!({"spec": {"versions": [1, null]}})]
    {
        assert!(!validate_create(&value).is_empty());
        let _ = flumen_crd::Served::new(&value);
    }
}
