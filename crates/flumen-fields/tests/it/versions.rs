//! Kinds with several versions, and schemas that change.

use flumen_fields::{
    Filter, ListMerge, Map, Node, Scalar, Schema, SchemaBuilder, Versions, Write, apply,
};
use serde_json::{Value, json};

use crate::subject::{Kind, Subject, widget_schema};

/// A kind whose `size` is called `count` in the second version.
struct Renamed {
    v1: Schema,
    v2: Schema,
    requested: &'static str,
}

impl Renamed {
    fn new(requested: &'static str) -> Self {
        Self { v1: schema("size"), v2: schema("count"), requested }
    }

    fn apply(
        &self,
        live: Option<&Value>,
        manager: &str,
        spec: &Value,
        now: &str,
    ) -> Result<Value, String> {
        let write = Write {
            versions: self,
            api_version: self.requested,
            kind: "Thing",
            subresource: "",
            filter: Filter::NONE,
            now,
        };
        let live = live.map(|live| converted(live, self.requested));
        let config = json!({"apiVersion": self.requested, "kind": "Thing", "metadata": {"name": "x"},
            "spec": spec});
        apply(&write, live.as_ref(), &config, manager, false).map_err(|error| error.to_string())
    }
}

fn schema(size: &str) -> Schema {
    let mut builder = SchemaBuilder::new();
    let string = builder.add(Node::scalar(Scalar::String));
    let number = builder.add(Node::scalar(Scalar::Numeric));
    let spec = Map::new(vec![(size.into(), number), ("note".into(), string)], None);
    let spec = builder.add(Node::map(spec));
    let metadata = builder.object_meta();
    let fields = vec![
        ("apiVersion".into(), string),
        ("kind".into(), string),
        ("metadata".into(), metadata),
        ("spec".into(), spec),
    ];
    let root = builder.add(Node::map(Map::new(fields, None)));
    builder.build(root)
}

fn converted(object: &Value, api_version: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(api_version);
    let (from, to) = if api_version == "e/v1" { ("count", "size") } else { ("size", "count") };
    if let Some(spec) = object["spec"].as_object_mut()
        && let Some(value) = spec.remove(from)
    {
        spec.insert(to.to_owned(), value);
    }
    object
}

impl Versions for Renamed {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        match api_version {
            "e/v1" => Some(&self.v1),
            "e/v2" => Some(&self.v2),
            _ => None,
        }
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        Ok(converted(object, api_version))
    }

    fn empty(&self) -> Value {
        json!({"apiVersion": self.requested, "kind": "Thing", "metadata": {}})
    }
}

fn owned(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().expect("there are entries");
    let entry = entries.iter().find(|entry| entry["manager"] == manager).expect("it owns fields");
    json!([entry["apiVersion"], entry["fieldsV1"]])
}

#[test]
fn fields_are_owned_in_the_version_in_which_they_were_sent() {
    let (v1, v2) = (Renamed::new("e/v1"), Renamed::new("e/v2"));
    let first = v1.apply(None, "alpha", &json!({"size": 1}), "1").expect("it is new");
    let second = v2.apply(Some(&first), "beta", &json!({"note": "n"}), "2").expect("no conflict");
    assert_eq!(owned(&second, "alpha"), json!(["e/v1", {"f:spec": {"f:size": {}}}]));
    assert_eq!(owned(&second, "beta"), json!(["e/v2", {"f:spec": {"f:note": {}}}]));
    assert_eq!(
        v2.apply(Some(&second), "beta", &json!({"count": 2}), "3"),
        Err("Apply failed with 1 conflict: conflict with \"alpha\": .spec.size".to_owned())
    );
}

#[test]
fn an_applier_may_change_its_version() {
    let (v1, v2) = (Renamed::new("e/v1"), Renamed::new("e/v2"));
    let first = v1.apply(None, "alpha", &json!({"size": 1, "note": "n"}), "1").expect("it is new");
    let second = v2.apply(Some(&first), "alpha", &json!({"count": 2}), "2").expect("it is its own");
    assert_eq!(second["spec"], json!({"count": 2}));
    assert_eq!(second["apiVersion"], "e/v2");
    assert_eq!(owned(&second, "alpha"), json!(["e/v2", {"f:spec": {"f:count": {}}}]));
}

#[test]
fn entries_of_versions_that_are_gone_are_dropped() {
    let v1 = Renamed::new("e/v1");
    let mut first = v1.apply(None, "alpha", &json!({"size": 1}), "1").expect("it is new");
    first["metadata"]["managedFields"][0]["apiVersion"] = json!("e/v0");
    let second = v1.apply(Some(&first), "beta", &json!({"size": 2}), "2").expect("no conflict");
    assert_eq!(second["metadata"]["managedFields"].as_array().map(Vec::len), Some(1));
}

#[test]
fn parts_of_what_is_now_owned_as_a_whole_become_the_whole() {
    let mut object = Subject::widget();
    object.apply("alpha", json!({"spec": {"tags": ["a", "b"], "size": 1}}));
    object.kind = Kind::Custom { schema: widget_schema(ListMerge::Atomic) };
    object.apply("beta", json!({"spec": {"size": 1}}));
    assert_eq!(object.owned("alpha"), json!({"f:spec": {"f:size": {}, "f:tags": {}}}));
    assert_eq!(
        object.refused("beta", json!({"spec": {"tags": ["a"]}})),
        "Apply failed with 1 conflict: conflict with \"alpha\": .spec.tags"
    );
}
