use flumen_yaml::Text;

use super::Schema;
use crate::Error;

const WIDGET: &str = r##"{"definitions": {
    "Part": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Part"}}},
    "Loop": {"$ref": "#/definitions/Loop"},
    "Widget": {
        "type": "object",
        "properties": {
            "parts": {
                "type": "array", "items": {"$ref": "#/definitions/Part"},
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "id"
            },
            "pod": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"},
            "labels": {"type": "object", "additionalProperties": {"$ref": "#/definitions/Part"}},
            "loop": {"$ref": "#/definitions/Loop"},
            "remote": {"$ref": "https://example.com/schema.json"},
            "inner": {"$ref": "#/definitions/Widget/properties/parts"}
        },
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}]
    }},
    "paths": {
        "/apis/example.com/v1/widgets": {"get": {"x-kubernetes-group-version-kind":
            {"group": "example.com", "version": "v1", "kind": "Widget"}}},
        "/apis/example.com/v1/gears": {"get": {"x-kubernetes-group-version-kind":
            {"group": "example.com", "version": "v1", "kind": "Gear"}}},
        "/apis/example.com/v1/namespaces/{namespace}/gears": {"get": {"x-kubernetes-group-version-kind":
            {"group": "example.com", "version": "v1", "kind": "Gear"}}}
    }
}"##;

/// Walks `path` from a kind (`[]` enters a list) and says what is known there.
#[track_caller]
fn check(schema: &Schema, kind: &str, path: &str, expected: &str) {
    let (api_version, kind) = kind.split_once(' ').expect("apiVersion and kind");
    let mut found = schema.root(api_version, kind);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        found = found.and_then(|found| match part {
            "[]" => found.element(),
            name => found.field(name),
        });
    }
    let found = match found.map(super::TypeRef::merge_keys) {
        None => "unknown".to_owned(),
        Some(None) => "known".to_owned(),
        Some(Some(keys)) => format!("merge by {}", keys.join("+")),
    };
    assert_eq!(found, expected, "{api_version} {kind} {path}");
}

/// A schema for which `document` was chosen at the very start.
fn with_document(document: &str) -> Schema {
    let mut schema = Schema::builtin();
    schema.choose(None, Some(Text::from(document))).expect("first choice");
    schema
}

#[test]
fn builtin_lists_merge_by_their_keys() {
    let schema = Schema::builtin();
    let pod = "spec/template/spec";
    check(&schema, "apps/v1 Deployment", &format!("{pod}/containers"), "merge by name");
    let ports = format!("{pod}/containers/[]/ports");
    check(&schema, "apps/v1 Deployment", &ports, "merge by containerPort+protocol");
    check(&schema, "apps/v1 Deployment", &format!("{pod}/tolerations"), "known");
    check(&schema, "apps/v1 Deployment", &format!("{pod}/containers/[]/args"), "unknown");
    check(&schema, "apps/v1 Deployment", "metadata/finalizers", "merge by ");
    check(&schema, "v1 Service", "spec/ports", "merge by port+protocol");
    check(&schema, "v1 Pod", "spec/containers/[]/resources/limits/cpu", "known");
}

#[test]
fn kinds_newer_than_the_table_are_unknown() {
    check(&Schema::builtin(), "autoscaling/v2 HorizontalPodAutoscaler", "", "unknown");
    check(&Schema::builtin(), "v1 Deployment", "", "unknown");
}

#[test]
fn scopes() {
    let schema = with_document(WIDGET);
    for (api_version, kind, cluster) in [
        ("v1", "Namespace", true),
        ("v2", "Namespace", false),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", true),
        ("rbac.authorization.k8s.io/v1", "Role", false),
        ("apps/v1", "Deployment", false),
        ("example.com/v1", "Widget", true),
        ("example.com/v1", "Gear", false),
        ("example.com/v1", "Unknown", false),
        ("", "", false),
        ("v1", "AKindWhoseNameIsLongerThanAnyOfTheTable", false),
    ] {
        assert_eq!(schema.is_cluster_scoped(api_version, kind), cluster, "{api_version} {kind}");
    }
    assert!(!Schema::builtin().is_cluster_scoped("example.com/v1", "Widget"));
}

#[test]
fn a_document_at_the_root_replaces_the_table() {
    let schema = with_document(WIDGET);
    check(&schema, "example.com/v1 Widget", "parts", "merge by id");
    check(&schema, "example.com/v1 Widget", "parts/[]/next/next/next", "known");
    check(&schema, "example.com/v1 Widget", "labels/any/next", "known");
    check(&schema, "example.com/v1 Widget", "inner", "merge by id");
    check(&schema, "example.com/v1 Widget", "pod", "unknown");
    check(&schema, "apps/v1 Deployment", "", "unknown");
}

#[test]
fn references_that_lead_nowhere_end() {
    let schema = with_document(WIDGET);
    check(&schema, "example.com/v1 Widget", "loop", "unknown");
    check(&schema, "example.com/v1 Widget", "remote", "known");
    check(&schema, "example.com/v1 Widget", "remote/x", "unknown");
}

#[test]
fn a_document_that_comes_after_a_lookup_joins_the_table() {
    let mut schema = Schema::builtin();
    assert!(!schema.is_cluster_scoped("example.com/v1", "Widget"));
    schema.choose(None, Some(Text::from(WIDGET))).expect("first choice");
    check(&schema, "example.com/v1 Widget", "pod/containers", "merge by name");
    check(&schema, "apps/v1 Deployment", "spec/template/spec/containers", "merge by name");

    let mut schema = Schema::builtin();
    assert!(!schema.is_cluster_scoped("apps/v1", "Deployment"));
    schema.choose(None, Some(Text::from(WIDGET))).expect("first choice");
    check(&schema, "apps/v1 Deployment", "", "unknown");

    let mut schema = Schema::builtin();
    check(&schema, "v1 Pod", "spec/containers", "merge by name");
    let redefined = r#"{"definitions": {"io.k8s.api.core.v1.PodSpec": {"type": "object"}}}"#;
    schema.choose(None, Some(Text::from(redefined))).expect("first choice");
    check(&schema, "v1 Pod", "spec/containers", "unknown");
    check(&schema, "v1 Pod", "metadata/finalizers", "merge by ");
}

#[test]
fn the_first_choice_stays() {
    let mut schema = Schema::builtin();
    schema.choose(None, None).expect("no choice");
    schema.choose(Some("v1.21.2"), None).expect("the version that is built in");
    schema.choose(None, Some(Text::from(WIDGET))).expect("ignored");
    check(&schema, "example.com/v1 Widget", "", "unknown");
    check(&schema, "v1 Pod", "", "known");
}

#[test]
fn choices_that_cannot_be_had() {
    let mut schema = Schema::builtin();
    let both = schema.choose(Some("v1.21.2"), Some(Text::from("{}")));
    assert!(matches!(both, Err(Error::VersionAndDocument)));
    let unknown = schema.choose(Some("v9.9.9"), None);
    assert!(matches!(unknown, Err(Error::UnknownVersion { version }) if version == "v9.9.9"));
}

#[test]
fn a_broken_document_is_a_problem_once_it_is_needed() {
    let nameless = r#"{"definitions": {"A": {"x-kubernetes-group-version-kind": [{}]}}}"#;
    for broken in [r#"{"definitions": [1]}"#, "[]", "", "{{{{", r#"{"paths": 1}"#, nameless] {
        let schema = with_document(broken);
        assert!(!schema.is_cluster_scoped("v1", "ConfigMap"));
        assert!(schema.problem().is_none(), "{broken}");
        check(&schema, "v1 ConfigMap", "", "unknown");
        assert!(schema.problem().is_some(), "{broken}");
    }
}
