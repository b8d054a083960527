//! Answers in protobuf, for clients of built-in kinds that prefer it.
//!
//! The numbers of fields are among the facts of the types. What has no number, or no type at all, is
//! answered as JSON, which every client that accepts protobuf reads too.

mod wire;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_schema::api::{Api as Facts, Field, Form, Presence, Type, TypeId};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) use wire::Writer;

use super::negotiate::Encoding;
use crate::ApiError;

const PREFIX: &[u8] = b"k8s\0";

/// A refusal, if it was to be protobuf.
pub(crate) fn status(error: &ApiError, encoding: Encoding) -> Option<Vec<u8>> {
    object(&error.to_status(), encoding)
}

/// An object or a list of a built-in kind, if it was to be protobuf.
pub(crate) fn object(value: &Value, encoding: Encoding) -> Option<Vec<u8>> {
    if encoding != Encoding::Protobuf {
        return None;
    }
    let (api_version, kind) = (value["apiVersion"].as_str()?, value["kind"].as_str()?);
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let mut raw = Writer::default();
    match (type_of(group, version, kind), kind.strip_suffix("List")) {
        (Some(id), _) => message(&mut raw, Facts::get().type_of(id), value)?,
        (None, Some(item)) => list(&mut raw, type_of(group, version, item)?, value)?,
        (None, None) => return None,
    }
    Some(envelope(api_version, kind, &raw.done()))
}

/// What is around every object: its kind, and its bytes.
pub(crate) fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut type_meta = Writer::default();
    type_meta.text(1, api_version);
    type_meta.text(2, kind);
    let mut unknown = Writer::default();
    unknown.bytes(1, &type_meta.done());
    unknown.bytes(2, raw);
    // Neither an encoding nor a type of its own.
    unknown.text(3, "");
    unknown.text(4, "");
    let mut body = PREFIX.to_vec();
    body.extend(unknown.done());
    body
}

fn type_of(group: &str, version: &str, kind: &str) -> Option<TypeId> {
    let facts = Facts::get();
    let known = facts.kind(group, version, kind).map(|kind| kind.object);
    known.or_else(|| facts.message(group, version, kind).map(|message| message.object))
}

/// All lists have their metadata first and their items second.
fn list(out: &mut Writer, item: TypeId, value: &Value) -> Option<()> {
    let facts = Facts::get();
    let metadata = facts.type_named("apimachinery.pkg.apis.meta.v1.ListMeta")?;
    sub(out, 1, metadata, &value["metadata"])?;
    for value in value["items"].as_array()? {
        sub(out, 2, item, value)?;
    }
    Some(())
}

fn sub(out: &mut Writer, number: u32, id: TypeId, value: &Value) -> Option<()> {
    let mut inner = Writer::default();
    message(&mut inner, Facts::get().type_of(id), value)?;
    out.bytes(number, &inner.done());
    Some(())
}

fn message(out: &mut Writer, of: &Type, value: &Value) -> Option<()> {
    for field in &of.fields {
        if field.number == 0 {
            continue;
        }
        let number = u32::from(field.number);
        match &value[field.name] {
            Value::Null => zero(out, number, field),
            value => put(out, number, &field.form, value)?,
        }
    }
    for embedded in &of.embedded {
        sub(out, u32::from(embedded.number), embedded.of, value)?;
    }
    Some(())
}

/// What Go writes for a field that is no pointer and holds nothing.
fn zero(out: &mut Writer, number: u32, field: &Field) {
    if matches!(field.presence, Presence::Given | Presence::Nullable) {
        return;
    }
    match field.form {
        Form::String(_) => out.text(number, ""),
        Form::Bool | Form::Int32(_) | Form::Int64(_) => out.number(number, 0),
        _ => {}
    }
}

fn put(out: &mut Writer, number: u32, form: &Form, value: &Value) -> Option<()> {
    match form {
        Form::String(_) => out.text(number, value.as_str()?),
        Form::Bool => out.number(number, i64::from(value.as_bool()?)),
        Form::Int32(_) | Form::Int64(_) | Form::Uint8 => out.number(number, value.as_i64()?),
        Form::Float64 => out.double(number, value.as_f64()?),
        Form::Bytes => out.bytes(number, &STANDARD.decode(value.as_str()?).ok()?),
        Form::Time | Form::MicroTime => out.bytes(number, &time(value.as_str()?)?),
        Form::Quantity => out.wrapped(number, 1, value.as_str()?.as_bytes()),
        Form::IntOrString => {
            let mut inner = Writer::default();
            inner.number(1, i64::from(value.is_string()));
            inner.number(2, value.as_i64().unwrap_or_default());
            inner.text(3, value.as_str().unwrap_or_default());
            out.bytes(number, &inner.done());
        }
        Form::Raw | Form::Fields | Form::Json => {
            out.wrapped(number, 1, value.to_string().as_bytes());
        }
        // These have messages of their own; JSON says them too.
        Form::Duration | Form::SchemaOrBool | Form::SchemaOrArray | Form::SchemaOrStrings => {
            return None;
        }
        Form::Struct(id) => sub(out, number, *id, value)?,
        Form::List(item) => {
            for value in value.as_array()? {
                put(out, number, item, value)?;
            }
        }
        Form::Map(item) => {
            for (key, value) in value.as_object()? {
                let mut entry = Writer::default();
                entry.text(1, key);
                match &**item {
                    // Lists of strings as values are messages of one repeated field.
                    Form::List(of) => {
                        let mut words = Writer::default();
                        put(&mut words, 1, &Form::List(of.clone()), value)?;
                        entry.bytes(2, &words.done());
                    }
                    item => put(&mut entry, 2, item, value)?,
                }
                out.bytes(number, &entry.done());
            }
        }
    }
    Some(())
}

fn time(text: &str) -> Option<Vec<u8>> {
    let time: Timestamp = text.parse().ok()?;
    let mut inner = Writer::default();
    inner.number(1, time.as_second());
    inner.number(2, i64::from(time.subsec_nanosecond()));
    Some(inner.done())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let object = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": { "name": "web", "labels": { "app": "web" }, "creationTimestamp": "2026-01-02T03:04:05Z" },
            "spec": { "ports": [{ "port": 80, "targetPort": "http" }], "clusterIP": "10.0.0.1" },
            "status": { "loadBalancer": {} },
        });
        let body = super::object(&object, Encoding::Protobuf).expect("it works");
        assert_eq!(&body[..4], PREFIX);
        let kind = Facts::get().kind("", "v1", "Service").expect("it works");
        let target = flumen_kinds::Target::from(kind);
        let read =
            flumen_kinds::decode(&body, flumen_kinds::Media::Protobuf, &target).expect("it works");
        assert_eq!(read.object["metadata"]["labels"]["app"], "web");
        assert_eq!(read.object["metadata"]["creationTimestamp"], "2026-01-02T03:04:05Z");
        assert_eq!(read.object["spec"]["ports"][0]["targetPort"], "http");
        assert_eq!(read.object["spec"]["ports"][0]["port"], 80);
    }

    #[test]
    fn what_has_no_type_is_left_to_json() {
        let custom = json!({ "apiVersion": "example.com/v1", "kind": "Widget" });
        assert!(object(&custom, Encoding::Protobuf).is_none());
    }
}
