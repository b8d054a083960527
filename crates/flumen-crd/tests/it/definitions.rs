//! Definitions that are refused.

use flumen_crd::{validate_create, validate_update, warnings};
use serde_json::{Value, json};

use crate::{definition, texts, with_spec};

/// What is wrong with a schema below `spec.a`, without the place of the schema.
#[track_caller]
fn schema(a: &Value, expected: &[&str]) {
    let schema = with_spec(&json!({"type": "object", "properties": {"a": a}}));
    let place = "spec.validation.openAPIV3Schema.properties[spec].properties[a]";
    let found: Vec<_> = texts(&validate_create(&definition(&schema)))
        .iter()
        .map(|text| text.replace(place, "a"))
        .collect();
    assert_eq!(found, expected);
}

/// What is wrong with a definition after a change of it.
#[track_caller]
fn changed(change: impl Fn(&mut Value), expected: &[&str]) {
    let mut definition = definition(&json!({"type": "object"}));
    change(&mut definition);
    assert_eq!(texts(&validate_create(&definition)), expected);
}

#[test]
fn structure() {
    schema(&json!({"type": "string"}), &[]);
    schema(&json!({"type": "array"}), &["a.items: Required value: must be specified"]);
    schema(
        &json!({"type": "string", "allOf": [{"type": "string", "title": "x"}]}),
        &[
            "a.allOf[0].title: Forbidden: must be empty to be structural",
            "a.allOf[0].type: Forbidden: must be empty to be structural",
        ],
    );
    let incomplete = json!({"type": "object", "anyOf": [{}, {"properties": {"x": {}}}]});
    let root = "spec.validation.openAPIV3Schema";
    assert_eq!(
        texts(&validate_create(&definition(&incomplete))),
        [format!(
            "{root}.properties[x]: Required value: because it is defined in \
             {root}.anyOf[1].properties[x]"
        )]
    );
    schema(
        &json!({"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        &[],
    );
    schema(
        &json!({"type": "object", "properties": {"b": {"type": "string"}},
                "additionalProperties": {"type": "string"}}),
        &[
            "a.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ],
    );
    schema(
        &json!({"type": "object", "x-kubernetes-map-type": "nope"}),
        &[
            "a.x-kubernetes-map-type: Unsupported value: \"nope\": supported values: \"atomic\", \"granular\"",
        ],
    );
    schema(
        &json!({"type": "string", "pattern": "a**"}),
        &[
            "a.pattern: Invalid value: \"a**\": must be a valid regular expression, but isn't: error \
           parsing regexp: invalid nested repetition operator: `**`",
        ],
    );
}

#[test]
fn defaults() {
    schema(&json!({"type": "integer", "default": 1, "minimum": 1}), &[]);
    schema(
        &json!({"type": "integer", "default": 0, "minimum": 1}),
        &["a.default: Invalid value: 0:  in body should be greater than or equal to 1"],
    );
    schema(
        &json!({"type": "object", "default": {"y": 1}, "properties": {"x": {"type": "string"}}}),
        &["a.default: Invalid value: {\"y\":1}: must not have unknown fields"],
    );
    schema(
        &json!({"type": "string", "default": "b", "x-kubernetes-validations": [{"rule": "self == 'a'"}]}),
        &["a.default: Invalid value: \"b\": failed rule: self == 'a'"],
    );
}

#[test]
fn rules() {
    let ruled = |rule: &Value| {
        json!({"type": "object", "properties": {"s": {"type": "string", "maxLength": 10},
                                                "l": {"type": "array", "items": {"type": "string"}}},
               "x-kubernetes-validations": [rule]})
    };
    schema(&ruled(&json!({"rule": "self.s == 'x'", "messageExpression": "'no ' + self.s"})), &[]);
    schema(
        &ruled(&json!({"rule": "1 + 1"})),
        &[
            "a.x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"1 + 1\",\"Message\":\"\",\
           \"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: \
           cel expression must evaluate to a bool",
        ],
    );
    schema(
        &ruled(&json!({"rule": "true", "messageExpression": "1"})),
        &["a.x-kubernetes-validations[0].messageExpression: Invalid value: {\"Rule\":\"true\",\
           \"Message\":\"\",\"MessageExpression\":\"1\",\"Reason\":null,\"FieldPath\":\"\",\
           \"OptionalOldSelf\":null}: messageExpression must evaluate to a string"],
    );
    schema(
        &ruled(&json!({"rule": "true", "optionalOldSelf": true})),
        &["a.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if \
           oldSelf is not used in rule"],
    );
    let place = "a.items.x-kubernetes-validations[0].rule";
    schema(
        &json!({"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 9,
                "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}),
        &[&format!(
            "{place}: Invalid value: \"self == oldSelf\": oldSelf cannot be used on the \
             uncorrelatable portion of the schema within a"
        )],
    );
}

#[test]
fn rules_have_a_price() {
    let text = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where \
                arrays, maps, and strings are declared)";
    schema(
        &json!({"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 100},
                "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]}),
        &[],
    );
    schema(
        &json!({"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 100},
                "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]}),
        &[&format!(
            "a.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by \
             factor of 4.5x {text}"
        )],
    );
}

#[test]
fn names_and_versions() {
    changed(|_| {}, &[]);
    changed(
        |it| it["spec"]["names"]["categories"] = json!(["A"]),
        &[
            "spec.names.categories[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower \
           case alphanumeric characters or '-', start with an alphabetic character, and end with an \
           alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
           '[a-z]([-a-z0-9]*[a-z0-9])?')",
        ],
    );
    changed(
        |it| it["spec"]["versions"][0]["subresources"] = json!({"scale": {}}),
        &[
            "spec.subresources.scale.specReplicasPath: Required value",
            "spec.subresources.scale.statusReplicasPath: Required value",
        ],
    );
    changed(
        |it| it["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.x"}]),
        &[
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec.x\": is an invalid path: does \
           not refer to a valid field",
        ],
    );
    changed(
        |it| it["spec"]["conversion"] = json!({"strategy": "Webhook"}),
        &[
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to \
             Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ],
    );
    changed(
        |it| it["spec"]["group"] = "x.k8s.io".into(),
        &[
            "metadata.name: Invalid value: \"widgets.example.com\": must be \
             spec.names.plural+\".\"+spec.group",
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must \
             have approval annotation \"api-approved.kubernetes.io\", see \
             https://github.com/kubernetes/enhancements/pull/1111",
        ],
    );
}

#[test]
fn status_apart_restricts_the_root() {
    let mut definition = definition(&json!({"type": "object", "x-kubernetes-map-type": "atomic"}));
    definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    let found = texts(&validate_create(&definition));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "spec.validation.openAPIV3Schema: Invalid value: {\"ID\":\"\",\"Schema\":\"\",\"Ref\":null,\
         \"Description\":\"\",\"Type\":\"object\","
    ));
    assert!(
        found[0]
            .contains("\"XMapType\":\"atomic\",\"XValidations\":null}: only [Description Type ")
    );
}

#[test]
fn what_was_accepted_is_accepted_still() {
    let bad = with_spec(&json!({"type": "array", "x-kubernetes-list-type": "set",
        "items": {"type": "object", "properties": {"k": {"type": "string"}}}}));
    let old = definition(&bad);
    assert_eq!(validate_create(&old).len(), 1);
    assert!(validate_update(&old, &old).is_empty());
    let mut new = old.clone();
    new["spec"]["group"] = "other.example.com".into();
    let found = texts(&validate_update(&new, &old));
    assert_eq!(found, ["spec.group: Invalid value: \"other.example.com\": field is immutable"]);
}

#[test]
fn unknown_formats_are_warned_of_once() {
    let new = definition(&with_spec(&json!({"type": "string", "format": "nope"})));
    assert_eq!(warnings(&new, None), ["unrecognized format \"nope\""]);
    assert!(warnings(&new, Some(&new)).is_empty());
}
