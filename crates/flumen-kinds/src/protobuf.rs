//! Objects in protobuf, as kubectl sends some of them.
//!
//! The numbers of fields are among the facts of the types, so there is no code for any message. Types
//! that are one value in JSON are messages of their own here: quantities, times, numbers or strings.

mod special;
mod wire;

use flumen_schema::api::{Api, Field, Form, Presence, Type, TypeId};
use serde_json::{Map, Value};
use wire::{Payload, Records};

use crate::{
    canonical::{fill, is_empty},
    decode::{encode_bytes, is_extra_value},
};

const PREFIX: &[u8] = b"k8s\0";
/// Levels of messages. Objects have a few; schemas may nest.
const MAX_DEPTH: usize = 100;

type Result<T> = std::result::Result<T, String>;

/// What is around an object: its kind, and its bytes.
pub(crate) struct Envelope<'a> {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    pub(crate) fn open(body: &'a [u8]) -> Result<Self> {
        if body.is_empty() {
            return Err("empty data".to_owned());
        }
        let Some(message) = body.strip_prefix(PREFIX) else {
            return Err("provided data does not appear to be a protobuf message, \
                        expected prefix [107 56 115 0]"
                .to_owned());
        };
        if message.is_empty() {
            return Err("empty body".to_owned());
        }
        let mut envelope = Self { api_version: String::new(), kind: String::new(), raw: &[] };
        for record in Records::new(message) {
            match record? {
                (1, payload) => {
                    for record in Records::new(payload.bytes("TypeMeta")?) {
                        match record? {
                            (1, payload) => envelope.api_version = payload.text("APIVersion")?,
                            (2, payload) => envelope.kind = payload.text("Kind")?,
                            _ => {}
                        }
                    }
                }
                (2, payload) => envelope.raw = payload.bytes("Raw")?,
                _ => {}
            }
        }
        Ok(envelope)
    }
}

/// Reads a message into the canonical form of its type.
pub(crate) fn read(raw: &[u8], of: TypeId) -> Result<Value> {
    let mut object = Map::new();
    message(&mut object, raw, Api::get().type_of(of), MAX_DEPTH)?;
    Ok(Value::Object(object))
}

/// Reads a message on top of what is there, as a second occurrence of a field is read.
fn message(
    object: &mut Map<String, Value>,
    raw: &[u8],
    of: &'static Type,
    depth: usize,
) -> Result<()> {
    fields(object, raw, of, depth)?;
    fill(object, of);
    Ok(())
}

fn fields(
    object: &mut Map<String, Value>,
    raw: &[u8],
    of: &'static Type,
    depth: usize,
) -> Result<()> {
    let depth = depth.checked_sub(1).ok_or("exceeded max depth")?;
    for record in Records::new(raw) {
        let (number, payload) = record?;
        if let Some(embedded) = of.embedded.iter().find(|e| u64::from(e.number) == number) {
            let inner = Api::get().type_of(embedded.of);
            fields(object, payload.bytes(inner.go_name())?, inner, depth)?;
        } else if let Some(field) = of.fields.iter().find(|f| u64::from(f.number) == number) {
            read_field(object, field, payload, depth)?;
        }
    }
    Ok(())
}

fn read_field(
    object: &mut Map<String, Value>,
    field: &'static Field,
    payload: Payload<'_>,
    depth: usize,
) -> Result<()> {
    match &field.form {
        Form::Map(of) => {
            let (key, value) = entry(payload, field.name, of, depth)?;
            if let Value::Object(members) = slot(object, field, || Value::Object(Map::new())) {
                members.insert(key, value);
            }
        }
        Form::List(of) => {
            let items = items(payload, field.name, of, depth)?;
            if let Value::Array(list) = slot(object, field, || Value::Array(Vec::new())) {
                list.extend(items);
            }
        }
        Form::Struct(of) => {
            let raw = payload.bytes(field.name)?;
            if let Value::Object(inner) = slot(object, field, || Value::Object(Map::new())) {
                message(inner, raw, Api::get().type_of(*of), depth)?;
            }
        }
        form => {
            let value = value(payload, field.name, form, depth)?;
            if field.presence == Presence::Filled && is_empty(&value) {
                object.remove(field.name);
            } else {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// The value of a field that may occur more than once.
fn slot<'a>(
    object: &'a mut Map<String, Value>,
    field: &Field,
    new: impl FnOnce() -> Value,
) -> &'a mut Value {
    object.entry(field.name).or_insert_with(new)
}

fn value(payload: Payload<'_>, name: &str, form: &'static Form, depth: usize) -> Result<Value> {
    Ok(match form {
        Form::String(_) | Form::Duration => Value::String(payload.text(name)?),
        Form::Bool => Value::Bool(payload.number(name)? != 0),
        Form::Int32(_) | Form::Uint8 => payload.int32(name)?.into(),
        Form::Int64(_) => payload.number(name)?.cast_signed().into(),
        Form::Float64 => special::float(payload.double(name)?),
        Form::Bytes => Value::String(encode_bytes(payload.bytes(name)?)),
        Form::Struct(of) => {
            let mut inner = Map::new();
            message(&mut inner, payload.bytes(name)?, Api::get().type_of(*of), depth)?;
            Value::Object(inner)
        }
        Form::List(of) => Value::Array(items(payload, name, of, depth)?),
        form => special::read(payload.bytes(name)?, form, depth)?,
    })
}

/// The items of one occurrence of a list: one, or several numbers in one.
fn items(payload: Payload<'_>, name: &str, of: &'static Form, depth: usize) -> Result<Vec<Value>> {
    if let (Form::Int32(_) | Form::Int64(_) | Form::Bool, Payload::Bytes(packed)) = (of, payload) {
        return wire::packed(packed).map(|item| value(item?, name, of, depth)).collect();
    }
    value(payload, name, of, depth).map(|item| vec![item])
}

fn entry(
    payload: Payload<'_>,
    name: &str,
    of: &'static Form,
    depth: usize,
) -> Result<(String, Value)> {
    let (mut key, mut found) = (String::new(), None);
    for record in Records::new(payload.bytes(name)?) {
        match record? {
            (1, payload) => key = payload.text(name)?,
            (2, payload) => {
                found = Some(match of {
                    Form::List(of) if is_extra_value(of) => extra_value(payload.bytes(name)?)?,
                    _ => value(payload, name, of, depth)?,
                });
            }
            _ => {}
        }
    }
    Ok((key, found.unwrap_or_else(|| crate::canonical::zero_form(of))))
}

fn extra_value(raw: &[u8]) -> Result<Value> {
    let mut items = Vec::new();
    for record in Records::new(raw) {
        if let (1, payload) = record? {
            items.push(Value::String(payload.text("Items")?));
        }
    }
    Ok(Value::Array(items))
}

#[cfg(test)]
mod tests;
