//! Messages that are one value in JSON.

use flumen_object::Quantity;
use flumen_schema::api::{Api, Form};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{MAX_DEPTH, Result, message, wire::Records};
use crate::{decode, json};

pub(super) fn read(raw: &[u8], form: &Form, depth: usize) -> Result<Value> {
    match form {
        Form::Time => time(raw, "%Y-%m-%dT%H:%M:%SZ"),
        Form::MicroTime => time(raw, "%Y-%m-%dT%H:%M:%S.%6fZ"),
        Form::Quantity => quantity(raw),
        Form::IntOrString => int_or_string(raw),
        Form::SchemaOrBool | Form::SchemaOrArray | Form::SchemaOrStrings => {
            schema(raw, form, depth)
        }
        _ => embedded_json(raw),
    }
}

pub(super) fn float(value: f64) -> Value {
    decode::float(&value.to_string()).unwrap_or_default()
}

/// An empty message is the zero time.
fn time(raw: &[u8], layout: &str) -> Result<Value> {
    if raw.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    for record in Records::new(raw) {
        match record? {
            (1, payload) => seconds = payload.number("Seconds")?.cast_signed(),
            (2, payload) => nanos = payload.int32("Nanos")?,
            _ => {}
        }
    }
    let time = Timestamp::new(seconds, nanos).map_err(|error| error.to_string())?;
    Ok(Value::String(time.strftime(layout).to_string()))
}

fn quantity(raw: &[u8]) -> Result<Value> {
    let mut text = "0".to_owned();
    for record in Records::new(raw) {
        if let (1, payload) = record? {
            text = payload.text("String")?;
        }
    }
    let text = Quantity::canonical(&text).map_err(|error| error.to_string())?;
    Ok(Value::String(text.into_owned()))
}

fn int_or_string(raw: &[u8]) -> Result<Value> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for record in Records::new(raw) {
        match record? {
            (1, payload) => is_text = payload.number("Type")? == 1,
            (2, payload) => number = payload.int32("IntVal")?,
            (3, payload) => text = payload.text("StrVal")?,
            _ => {}
        }
    }
    Ok(if is_text { Value::String(text) } else { number.into() })
}

/// JSON in the first field.
fn embedded_json(raw: &[u8]) -> Result<Value> {
    let mut text: &[u8] = b"null";
    for record in Records::new(raw) {
        if let (1, payload) = record? {
            text = payload.bytes("Raw")?;
        }
    }
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let tape = json::scan(text)?;
    tape.root().to_value(MAX_DEPTH).ok_or_else(|| "exceeded max depth".to_owned())
}

/// A schema or something else. The numbers of the three types differ.
fn schema(raw: &[u8], form: &Form, depth: usize) -> Result<Value> {
    let api = Api::get();
    let schema = api
        .type_named("apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        .map(|id| api.type_of(id))
        .ok_or("no schema of schemas")?;
    let object = |raw: &[u8]| {
        let mut object = Map::new();
        message(&mut object, raw, schema, depth)?;
        Ok::<_, String>(Value::Object(object))
    };
    let mut found = if *form == Form::SchemaOrBool { Value::Bool(false) } else { Value::Null };
    let mut items = Vec::new();
    for record in Records::new(raw) {
        match (form, record?) {
            (Form::SchemaOrBool, (1, payload)) if !found.is_object() => {
                found = Value::Bool(payload.number("Allows")? != 0);
            }
            (Form::SchemaOrBool, (1, _)) => {}
            (Form::SchemaOrBool, (2, payload)) | (_, (1, payload)) => {
                found = object(payload.bytes("Schema")?)?;
            }
            (Form::SchemaOrArray, (2, payload)) => items.push(object(payload.bytes("Schemas")?)?),
            (_, (2, payload)) => items.push(Value::String(payload.text("Property")?)),
            _ => {}
        }
    }
    Ok(if items.is_empty() { found } else { Value::Array(items) })
}
