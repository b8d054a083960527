use super::*;
use crate::{has_drifted, tests::node};

const OWNER: &str = "flumen";

fn rule(paths: &[&str], target: Option<Selector>) -> IgnoreRule {
    IgnoreRule { paths: paths.iter().map(|&path| path.to_owned()).collect(), target }
}

fn rules(rules: &[IgnoreRule]) -> IgnoreRules {
    IgnoreRules::new(rules).expect("rules")
}

#[test]
fn selectors_choose_objects() {
    let check = |selector: Selector, chosen: bool| {
        let object = node(
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: prod, \
             labels: {app: web}, annotations: {team: a}}}",
        );
        let paths = rules(&[rule(&["/spec"], Some(selector.clone()))]).of(&object);
        assert_eq!(!paths.is_empty(), chosen, "{selector:?}");
    };
    let all = Selector::default;
    let text = str::to_owned;
    check(all(), true);
    check(Selector { group: text("apps"), version: text("v1"), ..all() }, true);
    check(Selector { kind: text("Deployment|StatefulSet"), ..all() }, true);
    check(Selector { kind: text("Deploy"), ..all() }, false);
    check(Selector { name: text("w.b"), namespace: text("pro.*"), ..all() }, true);
    check(Selector { namespace: text("test"), ..all() }, false);
    check(Selector { label_selector: text("app in (web)"), ..all() }, true);
    check(Selector { label_selector: text("!app"), ..all() }, false);
    check(Selector { annotation_selector: text("team=a"), ..all() }, true);
    check(Selector { annotation_selector: text("team=b"), ..all() }, false);
    check(Selector { kind: text("Deployment"), name: text("api"), ..all() }, false);
}

#[test]
fn all_rules_count_with_or_without_selector() {
    let rules = rules(&[
        rule(&["/spec/a"], None),
        rule(&["/spec/b"], None),
        rule(&["/spec/c"], Some(Selector { kind: "A".to_owned(), ..Selector::default() })),
        rule(&["/spec/d"], Some(Selector { kind: "B".to_owned(), ..Selector::default() })),
    ]);
    let mut object = node("{kind: A, spec: {a: 1, b: 2, c: 3, d: 4}}");
    rules.of(&object).strip(&mut object);
    assert!(same_value(&object, &node("{kind: A, spec: {d: 4}}")), "{object:?}");
}

#[test]
fn elements_of_lists_are_stripped_by_their_place_before_the_others_go() {
    let rules = rules(&[rule(&["/list/0", "/list/1", "/list/10", "/list/0"], None)]);
    let mut object = node("{list: [a, b, c]}");
    rules.of(&object).strip(&mut object);
    assert!(same_value(&object, &node("{list: [c]}")), "{object:?}");
}

#[test]
fn ignored_fields_are_no_drift() {
    let ignored = rules(&[rule(&["/spec/replicas", "/metadata/annotations/a~1b"], None)]);
    let object = |replicas: u8, annotation: &str, image: &str| {
        node(&format!(
            "{{metadata: {{resourceVersion: '1', annotations: {{a/b: {annotation}}}}}, \
             spec: {{replicas: {replicas}, image: {image}}}}}"
        ))
    };
    let (live, result) = (object(5, "x", "i"), object(3, "y", "i"));
    assert!(!has_drifted(&live, &result, &ignored.of(&result)));
    assert!(has_drifted(&live, &result, &IgnoredPaths::default()));
    let result = object(3, "y", "j");
    assert!(has_drifted(&live, &result, &ignored.of(&result)));
    let new = node("{spec: {replicas: 3}}");
    assert!(has_drifted(&new, &new, &ignored.of(&new)), "rules never affect creation");
}

/// What is applied of `desired` when `path` is ignored.
#[track_caller]
fn check_settled(path: &str, live: &str, desired: &str, result: &str, expected: &str) {
    let (live, result) = (node(live), node(result));
    let mut applied = node(desired);
    rules(&[rule(&[path], None)]).of(&result).settle(&mut applied, &live, &result, OWNER);
    assert!(same_value(&applied, &node(expected)), "{applied:?}");
}

#[test]
fn a_field_that_nobody_else_applies_keeps_its_value() {
    let live = "{metadata: {managedFields: [{manager: flumen, operation: Apply, fieldsV1: {'f:spec': \
                {'f:replicas': {}}}}, {manager: hpa, operation: Update, fieldsV1: {'f:spec': \
                {'f:replicas': {}}}}]}, spec: {replicas: 5}}";
    let path = "/spec/replicas";
    check_settled(
        path,
        live,
        "{spec: {replicas: 3}}",
        "{spec: {replicas: 3}}",
        "{spec: {replicas: 5}}",
    );
    // No longer declared: it would be deleted.
    check_settled(path, live, "{spec: {}}", "{spec: {}}", "{spec: {replicas: 5}}");
    check_settled(path, live, "{}", "{}", "{spec: {replicas: 5}}");
    // Already so, whoever owns it.
    check_settled(
        path,
        live,
        "{spec: {replicas: 5}}",
        "{spec: {replicas: 5}}",
        "{spec: {replicas: 5}}",
    );
    // Removed by somebody.
    check_settled(
        path,
        "{spec: {}}",
        "{spec: {replicas: 3}}",
        "{spec: {replicas: 3}}",
        "{spec: {}}",
    );
}

#[test]
fn a_field_that_somebody_else_applies_is_left_to_them() {
    let live = |entry: &str| {
        format!(
            "{{metadata: {{managedFields: [{{{entry}, fieldsV1: {{'f:spec': \
             {{'f:replicas': {{}}}}}}}}]}}, spec: {{replicas: 5}}}}"
        )
    };
    let check = |entry: &str, expected: &str| {
        let desired = "{spec: {replicas: 3}}";
        check_settled("/spec/replicas", &live(entry), desired, desired, expected);
    };
    check("manager: vpa, operation: Apply", "{spec: {}}");
    check("manager: vpa, operation: Update", "{spec: {replicas: 5}}");
    check("manager: vpa, operation: Apply, subresource: scale", "{spec: {replicas: 5}}");
    check("manager: flumen, operation: Apply", "{spec: {replicas: 5}}");
}

#[test]
fn owners_of_list_elements_are_found_by_the_keys_of_the_element() {
    let live = r#"{metadata: {managedFields: [{manager: vpa, operation: Apply, fieldsV1:
        {'f:spec': {'f:containers': {'k:{"name":"b"}': {'f:resources': {'f:limits': {}}}}}}}]},
        spec: {containers: [{name: a, resources: {x: 1}}, {name: b, resources: {x: 1}}]}}"#;
    let desired =
        "{spec: {containers: [{name: a, resources: {x: 2}}, {name: b, resources: {x: 2}}]}}";
    check_settled(
        "/spec/containers/1/resources",
        live,
        desired,
        desired,
        "{spec: {containers: [{name: a, resources: {x: 2}}, {name: b}]}}",
    );
    check_settled(
        "/spec/containers/0/resources",
        live,
        desired,
        desired,
        "{spec: {containers: [{name: a, resources: {x: 1}}, {name: b, resources: {x: 2}}]}}",
    );
}

#[test]
fn mistakes_are_named() {
    let check = |rule: IgnoreRule, expected: &str| {
        let error = IgnoreRules::new(&[rule]).expect_err("a mistake");
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!error.hint().is_empty());
    };
    check(rule(&["spec"], None), "`spec` is no path of a field");
    let broken = Selector { name: "(".to_owned(), ..Selector::default() };
    check(rule(&[], Some(broken)), "invalid name regex: ");
    let broken = Selector { label_selector: "a b".to_owned(), ..Selector::default() };
    check(rule(&[], Some(broken)), "invalid label selector: unable to parse requirement");
}

#[test]
fn rules_are_read_as_flux_writes_them() {
    let text = r#"{"paths": ["/a"], "target": {"kind": "A", "labelSelector": "x=y"}}"#;
    let selector =
        Selector { kind: "A".to_owned(), label_selector: "x=y".to_owned(), ..Selector::default() };
    let read: IgnoreRule = serde_json::from_str(text).expect("a rule");
    assert_eq!(read, rule(&["/a"], Some(selector)));
    let read: IgnoreRule = serde_json::from_str(r#"{"paths": ["/a"]}"#).expect("a rule");
    assert_eq!(read, rule(&["/a"], None));
}
