//! The older document as protobuf, in the messages of the gnostic project: `openapi.v2.Document`.
//!
//! What the messages are called matters to nobody; what counts are the numbers of their fields.

use serde_json::Value;

use crate::http::ProtobufWriter as Writer;

/// A message: its fields by their names in JSON, and the field that takes extensions.
struct Message {
    fields: &'static [(&'static str, u32, Kind)],
    extensions: u32,
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Integer,
    Double,
    /// Any value, written as YAML.
    Any,
    Texts,
    Anys,
    /// One text or several in a message of their own.
    TypeNames,
    One(&'static Message),
    Many(&'static Message),
    /// Items of an array: a message that repeats schemas.
    Items,
    /// A message in the first field of a message that says which of several it is.
    Chosen(&'static Message),
    /// Entries with a name and a value, in this field of a message.
    Named(u32, &'static Message),
    Parameters,
    Responses,
    Requirements,
    SecurityDefinitions,
}

const DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Kind::Text),
        ("info", 2, Kind::One(&INFO)),
        ("paths", 8, Kind::Named(2, &PATH)),
        ("definitions", 9, Kind::Named(1, &SCHEMA)),
        ("security", 12, Kind::Requirements),
        ("securityDefinitions", 13, Kind::SecurityDefinitions),
    ],
    extensions: 16,
};
const INFO: Message =
    Message { fields: &[("title", 1, Kind::Text), ("version", 2, Kind::Text)], extensions: 7 };
static PATH: Message = Message {
    fields: &[
        ("get", 2, Kind::One(&OPERATION)),
        ("put", 3, Kind::One(&OPERATION)),
        ("post", 4, Kind::One(&OPERATION)),
        ("delete", 5, Kind::One(&OPERATION)),
        ("patch", 8, Kind::One(&OPERATION)),
        ("parameters", 9, Kind::Parameters),
    ],
    extensions: 10,
};
static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Kind::Texts),
        ("operationId", 5, Kind::Text),
        ("produces", 6, Kind::Texts),
        ("consumes", 7, Kind::Texts),
        ("parameters", 8, Kind::Parameters),
        ("responses", 9, Kind::Responses),
        ("schemes", 10, Kind::Texts),
    ],
    extensions: 13,
};
static BODY: Message = Message {
    fields: &[
        ("name", 2, Kind::Text),
        ("in", 3, Kind::Text),
        ("required", 4, Kind::Flag),
        ("schema", 5, Kind::One(&SCHEMA)),
    ],
    extensions: 6,
};
static QUERY: Message = Message {
    fields: &[
        ("required", 1, Kind::Flag),
        ("in", 2, Kind::Text),
        ("name", 4, Kind::Text),
        ("type", 6, Kind::Text),
        ("uniqueItems", 20, Kind::Flag),
    ],
    extensions: 23,
};
static IN_PATH: Message = Message {
    fields: &[
        ("required", 1, Kind::Flag),
        ("in", 2, Kind::Text),
        ("name", 4, Kind::Text),
        ("type", 5, Kind::Text),
        ("uniqueItems", 19, Kind::Flag),
    ],
    extensions: 22,
};
static RESPONSE: Message = Message {
    fields: &[("description", 1, Kind::Text), ("schema", 2, Kind::Chosen(&SCHEMA))],
    extensions: 5,
};
static API_KEY: Message = Message {
    fields: &[("type", 1, Kind::Text), ("name", 2, Kind::Text), ("in", 3, Kind::Text)],
    extensions: 5,
};
static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Kind::Text),
        ("format", 2, Kind::Text),
        ("title", 3, Kind::Text),
        ("description", 4, Kind::Text),
        ("default", 5, Kind::Any),
        ("multipleOf", 6, Kind::Double),
        ("maximum", 7, Kind::Double),
        ("exclusiveMaximum", 8, Kind::Flag),
        ("minimum", 9, Kind::Double),
        ("exclusiveMinimum", 10, Kind::Flag),
        ("maxLength", 11, Kind::Integer),
        ("minLength", 12, Kind::Integer),
        ("pattern", 13, Kind::Text),
        ("maxItems", 14, Kind::Integer),
        ("minItems", 15, Kind::Integer),
        ("uniqueItems", 16, Kind::Flag),
        ("maxProperties", 17, Kind::Integer),
        ("minProperties", 18, Kind::Integer),
        ("required", 19, Kind::Texts),
        ("enum", 20, Kind::Anys),
        ("additionalProperties", 21, Kind::Chosen(&SCHEMA)),
        ("type", 22, Kind::TypeNames),
        ("items", 23, Kind::Items),
        ("allOf", 24, Kind::Many(&SCHEMA)),
        ("properties", 25, Kind::Named(1, &SCHEMA)),
        ("example", 30, Kind::Any),
    ],
    extensions: 31,
};

pub(super) fn encode(document: &Value) -> Vec<u8> {
    message(&DOCUMENT, document)
}

fn message(of: &Message, value: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    let entries = value.as_object().into_iter().flatten();
    for (key, value) in entries {
        if let Some((_, number, kind)) = of.fields.iter().find(|(name, ..)| name == key) {
            field(&mut out, *number, *kind, value);
        } else if key.starts_with("x-") {
            out.bytes(of.extensions, &named(key, &any(value)));
        }
    }
    out.done()
}

fn field(out: &mut Writer, number: u32, kind: Kind, value: &Value) {
    let items = || value.as_array().into_iter().flatten();
    match kind {
        Kind::Text => out.text(number, value.as_str().unwrap_or_default()),
        Kind::Flag => out.number(number, i64::from(value.as_bool().unwrap_or_default())),
        Kind::Integer => out.number(number, value.as_i64().unwrap_or_default()),
        Kind::Double => out.double(number, value.as_f64().unwrap_or_default()),
        Kind::Any => out.bytes(number, &any(value)),
        Kind::Anys => items().for_each(|item| out.bytes(number, &any(item))),
        Kind::Texts => {
            items().for_each(|item| out.text(number, item.as_str().unwrap_or_default()));
        }
        Kind::TypeNames => {
            let mut names = Writer::default();
            match value {
                Value::String(name) => names.text(1, name),
                _ => items().for_each(|item| names.text(1, item.as_str().unwrap_or_default())),
            }
            out.bytes(number, &names.done());
        }
        Kind::One(of) => out.bytes(number, &message(of, value)),
        Kind::Many(of) => items().for_each(|item| out.bytes(number, &message(of, item))),
        Kind::Items => out.wrapped(number, 1, &message(&SCHEMA, value)),
        Kind::Chosen(of) => match value {
            Value::Bool(yes) => {
                let mut choice = Writer::default();
                choice.number(2, i64::from(*yes));
                out.bytes(number, &choice.done());
            }
            _ => out.wrapped(number, 1, &message(of, value)),
        },
        Kind::Named(inner, of) => {
            let mut entries = Writer::default();
            for (name, value) in value.as_object().into_iter().flatten() {
                entries.bytes(inner, &named(name, &message(of, value)));
            }
            out.bytes(number, &entries.done());
        }
        Kind::Parameters => items().for_each(|item| out.bytes(number, &parameter(item))),
        Kind::Responses => {
            let mut entries = Writer::default();
            for (code, value) in value.as_object().into_iter().flatten() {
                let mut choice = Writer::default();
                choice.bytes(1, &message(&RESPONSE, value));
                entries.bytes(1, &named(code, &choice.done()));
            }
            out.bytes(number, &entries.done());
        }
        Kind::Requirements => {
            for requirement in items() {
                let mut entries = Writer::default();
                for name in requirement.as_object().into_iter().flat_map(serde_json::Map::keys) {
                    entries.bytes(1, &named(name, &[]));
                }
                out.bytes(number, &entries.done());
            }
        }
        Kind::SecurityDefinitions => {
            let mut entries = Writer::default();
            for (name, value) in value.as_object().into_iter().flatten() {
                let mut choice = Writer::default();
                choice.bytes(2, &message(&API_KEY, value));
                entries.bytes(1, &named(name, &choice.done()));
            }
            out.bytes(number, &entries.done());
        }
    }
}

/// A parameter of a body, or one of a query or a path: choices within choices.
fn parameter(value: &Value) -> Vec<u8> {
    let mut choice = Writer::default();
    match value["in"].as_str() {
        Some("body") => choice.bytes(1, &message(&BODY, value)),
        Some("path") => choice.wrapped(2, 4, &message(&IN_PATH, value)),
        _ => choice.wrapped(2, 3, &message(&QUERY, value)),
    }
    let mut item = Writer::default();
    item.bytes(1, &choice.done());
    item.done()
}

fn named(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    out.text(1, name);
    out.bytes(2, value);
    out.done()
}

/// JSON is YAML.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Writer::default();
    out.text(2, &format!("{value}\n"));
    out.done()
}
