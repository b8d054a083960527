//! What is seen of custom resources besides objects: columns, scales, published schemas.

use flumen_crd::{OpenApi, Served};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{definition, version, widget, with_spec};

fn served(parts: &Value) -> Served {
    let mut definition =
        definition(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let version = &mut definition["spec"]["versions"][0];
    for (key, value) in parts.as_object().into_iter().flatten() {
        version[key] = value.clone();
    }
    Served::new(&definition)
}

#[test]
fn columns_show_values_by_their_type() {
    let column =
        |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
    let served = served(&json!({"additionalPrinterColumns": [
        column("Text", "string", ".spec.s"),
        column("Number", "integer", ".spec.n"),
        column("Flag", "boolean", ".spec.b"),
        column("List", "string", ".spec.l"),
        column("Since", "date", ".spec.t"),
        column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"),
        column("None", "integer", ".spec.none"),
    ]}));
    let version = served.version("v1").expect("a version");
    let now: Timestamp = "2030-01-01T01:00:00Z".parse().expect("a time");
    let mut object = widget(&json!({"s": "x", "n": 3, "b": true, "l": [1, "a"],
                                    "t": "2030-01-01T00:00:00Z"}));
    object["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let cells = json!(["w", "x", 3, true, "[1,\"a\"]", "60m", "True", null]);
    assert_eq!(json!(version.cells(&object, now)), cells);
    let names: Vec<_> = version.column_definitions().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(
        json!(names),
        json!(["Name", "Text", "Number", "Flag", "List", "Since", "Ready", "None"])
    );
}

#[test]
fn without_columns_there_is_the_age() {
    let served = served(&json!({}));
    let version = served.version("v1").expect("a version");
    let now: Timestamp = "2030-01-01T01:00:00Z".parse().expect("a time");
    let mut object = widget(&json!({}));
    object["metadata"]["creationTimestamp"] = "2030-01-01T00:59:00Z".into();
    assert_eq!(json!(version.cells(&object, now)), json!(["w", "60s"]));
}

#[test]
fn scales_follow_their_paths() {
    let served = served(&json!({"subresources": {"scale": {"specReplicasPath": ".spec.r",
        "statusReplicasPath": ".status.r", "labelSelectorPath": ".status.s"}}}));
    let version = served.version("v1").expect("a version");
    let scale = version.scale.as_ref().expect("a scale");
    let mut object = widget(&json!({"r": 2}));
    object["status"] = json!({"r": 1, "s": "a=b"});
    let found = scale.of(&object).expect("a scale");
    assert_eq!(found["spec"], json!({"replicas": 2}));
    assert_eq!(found["status"], json!({"replicas": 1, "selector": "a=b"}));
    scale.set(&mut object, 5);
    assert_eq!(object["spec"]["r"], 5);
    scale.set(&mut object, -1);
    let errors = crate::texts(&version.validate_create(&object).errors);
    assert_eq!(errors, [".spec.r: Invalid value: -1: should be a non-negative integer"]);
    let missing = scale.of(&widget(&json!({}))).expect_err("no replicas");
    assert_eq!(missing.to_string(), "the spec replicas field \".spec.r\" does not exist");
    let changing = scale.of_changing(&widget(&json!({}))).expect("a scale that can be set");
    assert_eq!(changing["spec"], json!({"replicas": flumen_crd::Scale::UNSET}));
}

#[test]
fn schemas_are_published() {
    let version = version(&with_spec(&json!({"type": "object", "properties": {
        "i": {"x-kubernetes-int-or-string": true},
        "n": {"type": "string", "nullable": true},
        "o": {"type": "object", "oneOf": [{"required": ["x"]}], "properties": {"x": {"type": "string"}}},
    }})));
    let [object, list] = version.published(OpenApi::V3);
    assert_eq!(object.name, "com.example.v1.Widget");
    assert_eq!(list.name, "com.example.v1.WidgetList");
    let spec = &object.schema["properties"]["spec"]["properties"];
    assert_eq!(spec["i"]["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(spec["n"]["nullable"], true);
    let kinds = json!([{"group": "example.com", "version": "v1", "kind": "Widget"}]);
    assert_eq!(object.schema["x-kubernetes-group-version-kind"], kinds);
    let [object, _] = version.published(OpenApi::V2);
    let spec = &object.schema["properties"]["spec"]["properties"];
    assert_eq!(spec["n"], json!({}));
    assert_eq!(spec["o"].get("oneOf"), None);
    let reference = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(object.schema["properties"]["metadata"]["$ref"], reference);
}
