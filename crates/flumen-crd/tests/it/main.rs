//! Custom resources, from the outside.

mod corpus;
mod definitions;
mod hostile;
mod objects;
mod rules;
mod status;
mod surfaces;

use flumen_crd::{Served, Version};
use flumen_fields::FieldError;
use serde_json::{Value, json};
use std::sync::Arc;

/// A definition of `widgets.example.com` with one version.
fn definition(schema: &Value) -> Value {
    json!({
        "metadata": {"name": "widgets.example.com", "generation": 1},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                      "listKind": "WidgetList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    })
}

/// A schema of objects whose spec has these properties.
fn with_spec(spec: &Value) -> Value {
    json!({"type": "object", "properties": {"spec": spec}})
}

fn version(schema: &Value) -> Arc<Version> {
    let served = Served::new(&definition(schema));
    Arc::clone(served.version("v1").expect("a version"))
}

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget",
           "metadata": {"name": "w", "namespace": "n"}, "spec": spec})
}

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}
