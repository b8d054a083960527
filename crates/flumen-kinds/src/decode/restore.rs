//! What is wrong with a tree that Go puts into its structs without a text in between.
//!
//! The real server does so with the results of strategic merge patches and of applies. It stops at the
//! first fault, in the order of the fields of the structs, and has words of its own.

use flumen_schema::api::{Api, Form, Type, TypeId};
use serde_json::Value;

use super::{leaf, typed};
use crate::json::Tape;

/// The first fault of an object of a type.
pub fn restore_fault(value: &Value, of: TypeId) -> Option<String> {
    let api = Api::get();
    fields(api, value, api.type_of(of)).err()
}

fn fields(api: &'static Api, value: &Value, of: &'static Type) -> Result<(), String> {
    let Value::Object(map) = value else {
        return Err(format!("cannot restore struct from: {}", kind(value)));
    };
    for field in &of.fields {
        if let Some(value) = map.get(field.name) {
            check(api, value, &field.form)?;
        }
    }
    Ok(())
}

fn check(api: &'static Api, value: &Value, form: &'static Form) -> Result<(), String> {
    match (form, value) {
        (_, Value::Null)
        | (Form::IntOrString | Form::String(_) | Form::Duration, Value::String(_))
        | (Form::Bool, Value::Bool(_))
        | (Form::Float64, Value::Number(_))
        | (Form::Raw | Form::Fields | Form::Json, _) => Ok(()),
        // These read themselves from JSON.
        (Form::SchemaOrBool | Form::SchemaOrArray | Form::SchemaOrStrings, _) => {
            typed::schema_fault(Tape::of(value).root(), form).map_or(Ok(()), Err)
        }
        (Form::Struct(of), _) => fields(api, value, api.type_of(*of)),
        (Form::Map(of), Value::Object(map)) => {
            map.values().try_for_each(|value| check(api, value, of))
        }
        (Form::Map(_), _) => Err(format!("cannot restore map from {}", kind(value))),
        (Form::List(of), Value::Array(items)) => {
            items.iter().try_for_each(|item| check(api, item, of))
        }
        (Form::Bytes, Value::String(text)) => leaf::bytes(text)
            .map(drop)
            .map_err(|fault| format!("error decoding from json: {fault}")),
        (Form::Bytes, Value::Array(items)) => {
            items.iter().try_for_each(|item| check(api, item, &Form::Uint8))
        }
        (Form::List(_) | Form::Bytes, _) => {
            Err(format!("cannot restore slice from {}", kind(value)))
        }
        (Form::Time | Form::MicroTime, Value::String(text)) => leaf::time(text, form).map(drop),
        (Form::Time | Form::MicroTime, _) => Err(unmarshal(value, "string")),
        (Form::Quantity, _) => leaf::quantity(Tape::of(value).root()).map(drop),
        (Form::IntOrString, Value::Number(number)) => match number.as_i64().map(i32::try_from) {
            Some(Ok(_)) => Ok(()),
            _ => Err(format!("json: cannot unmarshal number {number} into Go value of type int32")),
        },
        (Form::IntOrString, _) => Err(unmarshal(value, "int32")),
        // To Go, a number can become a letter.
        (Form::String(_) | Form::Duration, Value::Number(number)) if !number.is_f64() => {
            Err(format!("cannot convert int64 to {}", leaf::go_type(api, form)))
        }
        (Form::String(_) | Form::Duration, _) => Err(unrecognized("string")),
        (Form::Bool, _) => Err(unrecognized("bool")),
        (Form::Int32(_), _) => whole(api, value, form, "int32"),
        (Form::Int64(_), _) => whole(api, value, form, "int64"),
        (Form::Uint8, _) => whole(api, value, form, "uint8"),
        (Form::Float64, _) => Err(unrecognized("float64")),
    }
}

fn whole(api: &'static Api, value: &Value, form: &'static Form, kind: &str) -> Result<(), String> {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => {
            Err(format!("cannot convert float64 to {}", leaf::go_type(api, form)))
        }
        Value::Number(_) => Ok(()),
        _ => Err(unrecognized(kind)),
    }
}

fn unrecognized(kind: &str) -> String {
    format!("unrecognized type: {kind}")
}

fn unmarshal(value: &Value, into: &str) -> String {
    let what = Tape::of(value).root().kind();
    format!("json: cannot unmarshal {what} into Go value of type {into}")
}

/// The kind of a value in Go.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "objects are made in place")]
    fn check(object: Value, fault: Option<&str>) {
        let service = Api::get().kind("", "v1", "Service").expect("it is served");
        assert_eq!(restore_fault(&object, service.object).as_deref(), fault);
    }

    #[test]
    fn schemas_know_nothing_of_what_is_around_them() {
        let check = |schema: Value, fault: &str| {
            let version =
                json!({ "schema": { "openAPIV3Schema": { "properties": { "a": schema } } } });
            let object = json!({ "spec": { "versions": [version] } });
            let kind = Api::get().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
            let definition = kind.expect("it is served").object;
            assert_eq!(restore_fault(&object, definition).as_deref(), Some(fault));
        };
        check(json!({ "items": { "required": "" } }), &in_schema("required", "[]string"));
        let nested = json!({ "additionalProperties": { "items": { "required": "" } } });
        check(nested, &in_schema("items.required", "[]string"));
        let text = json!({ "items": { "x-kubernetes-validations": "" } });
        check(text, &in_schema("x-kubernetes-validations", "v1.ValidationRules"));
        let rules = json!({ "items": { "x-kubernetes-validations": [{ "rule": 1 }] } });
        check(
            rules,
            "json: cannot unmarshal number into Go struct field \
             ValidationRule.x-kubernetes-validations.rule of type string",
        );
        check(json!({ "required": "" }), "cannot restore slice from string");
        check(json!({ "additionalProperties": 1 }), "boolean or JSON schema expected");
    }

    fn in_schema(path: &str, go_type: &str) -> String {
        format!(
            "json: cannot unmarshal string into Go struct field JSONSchemaProps.{path} of type {go_type}"
        )
    }

    #[test]
    fn faults_are_named() {
        check(json!({ "spec": { "ports": [{ "port": 1.0, "targetPort": "x" }] } }), None);
        check(json!({ "spec": null, "unknown": 1 }), None);
        check(json!({ "spec": "x" }), Some("cannot restore struct from: string"));
        check(json!({ "spec": { "ports": {} } }), Some("cannot restore slice from map"));
        check(json!({ "spec": { "selector": [] } }), Some("cannot restore map from slice"));
        check(json!({ "spec": { "selector": { "a": 1.5 } } }), Some("unrecognized type: string"));
        check(json!({ "spec": { "type": 1 } }), Some("cannot convert int64 to v1.ServiceType"));
        let port = |port: Value| json!({ "spec": { "ports": [{ "port": port }] } });
        check(port(json!(1.5)), Some("cannot convert float64 to int32"));
        check(port(json!("1")), Some("unrecognized type: int32"));
    }
}
