//! Rules in CEL.

use serde_json::{Value, json};

use crate::{texts, version, widget, with_spec};

/// What rules over `spec` say of it, new or instead of another.
#[track_caller]
fn check(rule: &Value, old: Option<&Value>, new: &Value, expected: &[&str]) {
    let schema =
        with_spec(&json!({"type": "object", "x-kubernetes-validations": [rule], "properties": {
            "a": {"type": "string"},
            "n": {"type": "integer"},
            "f": {"type": "number"},
            "t": {"type": "string", "format": "date-time"},
            "d": {"type": "string", "format": "duration"},
            "namespace": {"type": "string"},
            "x-y": {"type": "string"},
            "p": {"x-kubernetes-int-or-string": true},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "integer"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }}));
    let version = version(&schema);
    let verdict = match old {
        None => version.validate_create(&widget(new)),
        Some(old) => {
            let numbered = |spec: &Value| {
                let mut object = widget(spec);
                object["metadata"]["resourceVersion"] = "1".into();
                object
            };
            version.validate_update(&numbered(new), &numbered(old))
        }
    };
    assert_eq!(texts(&verdict.errors), expected);
}

#[track_caller]
fn holds(rule: &str, spec: &Value) {
    check(&json!({ "rule": rule }), None, spec, &[]);
}

#[test]
fn values_have_the_types_of_the_schema() {
    holds("self.f == 1.0 && self.n == 1", &json!({"f": 1, "n": 1}));
    holds("self.t < timestamp('2030-01-01T00:00:00Z')", &json!({"t": "2020-01-01T00:00:00Z"}));
    holds("self.d == duration('90m')", &json!({"d": "1h30m"}));
    holds(
        "self.__namespace__ == 'x' && self.x__dash__y == 'z'",
        &json!({"namespace": "x", "x-y": "z"}),
    );
    holds("type(self.p) == int ? self.p > 1 : self.p.endsWith('%')", &json!({"p": "5%"}));
    holds("has(self.a) && !has(self.n)", &json!({"a": ""}));
    holds(
        "self.map.all(k, self.map[k].size() == 1) && self.list.sum() == 3",
        &json!({"map": {"a": "b"}, "list": [1, 2]}),
    );
}

#[test]
fn libraries_of_kubernetes() {
    let nothing = json!({});
    for rule in [
        "quantity('1Gi').isGreaterThan(quantity('1000Mi')) && quantity('500m').add(1) == quantity('1500m')",
        "url('https://a:80/b?c=d').getHostname() == 'a' && isURL('/x') && !isURL('::')",
        "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16')) && !isCIDR('10.0.0.0')",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('v1.2', true).minor() == 2",
        "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'abc'.find('z') == ''",
        "[3, 1, 2].sort() == [1, 2, 3] && [1, 2].max() == 2 && [1, 1].distinct() == [1]",
        "format.dns1123Label().validate('Nope').hasValue() && !format.uuid().validate('00000000-0000-0000-0000-000000000000').hasValue()",
        "sets.contains([1, 2], [2]) && 'a-b'.split('-').join('+') == 'a+b'",
        "lists.range(3) == [0, 1, 2] && [[1], [2]].flatten() == [1, 2] && [1, 2, 3].slice(1, 3) == [2, 3]",
    ] {
        holds(rule, &nothing);
    }
}

#[test]
fn a_rule_says_what_it_is_told_to() {
    let spec = json!({"a": "x"});
    check(
        &json!({"rule": "self.a == 'y'", "message": " use y "}),
        None,
        &spec,
        &["spec: Invalid value: use y"],
    );
    check(
        &json!({"rule": "self.a == 'y'", "messageExpression": "'not ' + self.a"}),
        None,
        &spec,
        &["spec: Invalid value: not x"],
    );
    check(
        &json!({"rule": "self.a == 'y'", "fieldPath": ".a", "reason": "FieldValueForbidden"}),
        None,
        &spec,
        &["spec.a: Forbidden: failed rule: self.a == 'y'"],
    );
    check(
        &json!({"rule": "self.n / 0 == 1"}),
        None,
        &json!({"n": 1}),
        &["spec: Invalid value: \"object\": division by zero evaluating rule: self.n / 0 == 1"],
    );
}

#[test]
fn rules_compare_with_what_was() {
    let immutable = json!({"rule": "self.a == oldSelf.a", "message": "a is immutable"});
    check(&immutable, None, &json!({"a": "1"}), &[]);
    check(&immutable, Some(&json!({"a": "1"})), &json!({"a": "1", "n": 2}), &[]);
    let expected = ["spec: Invalid value: a is immutable"];
    check(&immutable, Some(&json!({"a": "1"})), &json!({"a": "2"}), &expected);
    let optional = json!({"rule": "oldSelf.hasValue() || self.n == 1", "optionalOldSelf": true});
    check(&optional, None, &json!({"n": 1}), &[]);
    check(
        &optional,
        None,
        &json!({"n": 2}),
        &["spec: Invalid value: failed rule: oldSelf.hasValue() || self.n == 1"],
    );
    check(&optional, Some(&json!({"n": 1})), &json!({"n": 2}), &[]);
    let set = json!({"rule": "self.set == oldSelf.set"});
    check(&set, Some(&json!({"set": ["a", "b"]})), &json!({"set": ["b", "a"]}), &[]);
}

#[test]
fn what_does_not_hold_as_before_is_warned_of() {
    let schema = with_spec(&json!({"type": "object", "properties": {
        "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'good'"}]},
        "b": {"type": "string"}}}));
    let version = version(&schema);
    let object = |a: &str, b: &str| {
        let mut object = widget(&json!({"a": a, "b": b}));
        object["metadata"]["resourceVersion"] = "1".into();
        object
    };
    let verdict = version.validate_update(&object("bad", "2"), &object("bad", "1"));
    assert!(verdict.errors.is_empty());
    let warning = "spec.a: Invalid value: \"bad\": failed rule: self == 'good'";
    assert_eq!(verdict.warnings, [warning]);
    let verdict = version.validate_update(&object("worse", "1"), &object("bad", "1"));
    assert_eq!(verdict.errors.len(), 1);
}

#[test]
fn rules_are_not_asked_about_objects_of_another_form() {
    check(
        &json!({"rule": "self.n > 0"}),
        None,
        &json!({"n": "x"}),
        &[
            "spec.n: Invalid value: \"string\": spec.n in body must be of type integer: \"string\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object \
             was invalid; correct the existing errors to complete validation",
        ],
    );
}
