//! A tree read into a Go type and printed again, in one walk.
//!
//! Reading follows the converter of Kubernetes between trees and Go types: names of fields are exact,
//! null is the same as nothing, a whole number may be spelled as a float, and nothing but a text is
//! a text. Printing follows the type: see [`Presence`].

use base64::{
    Engine as _, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use flumen_object::{Precision, Quantity, canonical_time};
use flumen_schema::typed::{self, Field, Presence, Shape, Struct};
use flumen_yaml::{Canonical, Entry, Map, Node, Pos, Scalar, Tag, Text, Value, canonical, to_json};

/// Go does not look at the bits of the last digit that belong to no byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// A value that does not fit its type.
struct Mismatch;

type Result<T> = std::result::Result<T, Mismatch>;

/// The object as its Go type prints it, if its kind has one and everything fits.
pub(super) fn as_printed(object: &Node) -> Option<Node> {
    let text = |key| object.get(key).and_then(Node::as_str);
    let kind = typed::kind(text("apiVersion")?, text("kind")?)?;
    let map = structure(kind, object.as_map()?).ok()?;
    Some(Node::new(object.pos, Value::Map(map)))
}

fn structure(fields: Struct, source: &Map) -> Result<Map> {
    let mut printed = Vec::with_capacity(source.len() + 2);
    for entry in source.iter().filter(|entry| !is_null(&entry.value)) {
        let Some(field) = fields.field(&entry.key) else { continue };
        let value = value(field.shape, &entry.value)?;
        if field.presence != Presence::Filled || !is_empty(&value) {
            printed.push(Entry { key: entry.key.clone(), key_pos: entry.key_pos, value });
        }
    }
    let is_given = |name| source.get(name).is_some_and(|value| !is_null(value));
    printed.extend(fields.unconditional().filter(|field| !is_given(field.name)).map(absent));
    Ok(printed.into())
}

/// A field that is printed although nothing was given.
fn absent(field: Field) -> Entry {
    let value = match field.presence {
        Presence::Nullable => Node::null(),
        _ => zero(field.shape),
    };
    Entry::new(Text::literal(field.name), value)
}

/// What a type prints when nothing was given.
fn zero(shape: Shape) -> Node {
    match shape {
        Shape::Str => Node::string(Text::default()),
        Shape::Bool => Node::scalar("false", Tag::Bool),
        Shape::Int32 | Shape::Int64 | Shape::IntOrString => integer(0),
        Shape::Quantity => Node::string("0"),
        Shape::Struct(fields) => {
            let entries: Map = fields.unconditional().map(absent).collect();
            Node::new(Pos::default(), Value::Map(entries))
        }
        Shape::Bytes
        | Shape::Time
        | Shape::MicroTime
        | Shape::Raw
        | Shape::List(_)
        | Shape::Map(_) => Node::null(),
    }
}

fn value(shape: Shape, source: &Node) -> Result<Node> {
    if is_null(source) {
        return Ok(zero(shape));
    }
    let value = match (shape, &source.value) {
        (Shape::Raw, _) => return Ok(source.clone()),
        (_, Value::Scalar(scalar)) => return self::scalar(shape, source, scalar),
        (Shape::Struct(fields), Value::Map(map)) => Value::Map(structure(fields, map)?),
        (Shape::Map(element), Value::Map(map)) => {
            let shape = element.shape();
            let entries = map.iter().map(|Entry { key, key_pos, value }| {
                Ok(Entry { key: key.clone(), key_pos: *key_pos, value: self::value(shape, value)? })
            });
            Value::Map(entries.collect::<Result<_>>()?)
        }
        (Shape::List(element), Value::Seq(items)) => {
            let shape = element.shape();
            Value::Seq(items.iter().map(|item| value(shape, item)).collect::<Result<_>>()?)
        }
        // To Go, bytes are also a list of numbers.
        (Shape::Bytes, Value::Seq(items)) => {
            let bytes: Vec<u8> = items.iter().map(byte).collect::<Result<_>>()?;
            return Ok(Node::string(BASE64.encode(bytes)));
        }
        _ => return Err(Mismatch),
    };
    Ok(Node::new(source.pos, value))
}

fn scalar(shape: Shape, source: &Node, scalar: &Scalar) -> Result<Node> {
    let meaning = canonical(scalar).map_err(|_| Mismatch)?;
    match (shape, &meaning) {
        (Shape::Str | Shape::IntOrString, Canonical::Str(text)) => {
            Ok(if scalar.tag == Tag::Str { source.clone() } else { Node::string(text.as_ref()) })
        }
        (Shape::Bool, Canonical::Bool(_)) => Ok(source.clone()),
        (Shape::Int64, _) => whole(&meaning).map(integer),
        // The converter cuts off what does not fit.
        #[expect(clippy::cast_possible_truncation, reason = "as in Go")]
        (Shape::Int32, _) => whole(&meaning).map(|value| integer((value as i32).into())),
        (Shape::IntOrString, _) => {
            let value = whole(&meaning)?;
            i32::try_from(value).map(|_| integer(value)).map_err(|_| Mismatch)
        }
        (Shape::Bytes, Canonical::Str(text)) => bytes(text).map(Node::string),
        (Shape::Time, Canonical::Str(text)) => time(text, Precision::Seconds),
        (Shape::MicroTime, Canonical::Str(text)) => time(text, Precision::Microseconds),
        (Shape::Quantity, Canonical::Str(text)) => quantity(text.trim_matches(' ')),
        (Shape::Quantity, Canonical::Int(_) | Canonical::Float(_)) => {
            quantity(&to_json(source).map_err(|_| Mismatch)?)
        }
        _ => Err(Mismatch),
    }
}

/// A whole number that fits 64 bits with a sign. What becomes of larger ones in Go depends on the
/// machine.
fn whole(value: &Canonical<'_>) -> Result<i64> {
    match *value {
        Canonical::Int(value) => i64::try_from(value).map_err(|_| Mismatch),
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
        Canonical::Float(value) if value.fract() == 0.0 && value.abs() < 9e18 => Ok(value as i64),
        _ => Err(Mismatch),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as in Go")]
fn byte(source: &Node) -> Result<u8> {
    if is_null(source) {
        return Ok(0);
    }
    let meaning = canonical(source.as_scalar().ok_or(Mismatch)?).map_err(|_| Mismatch)?;
    whole(&meaning).map(|value| value as u8)
}

fn bytes(text: &str) -> Result<String> {
    let joined;
    let digits = if text.contains(['\r', '\n']) {
        joined = text.replace(['\r', '\n'], "");
        &joined
    } else {
        text
    };
    BASE64.decode(digits).map(|bytes| BASE64.encode(bytes)).map_err(|_| Mismatch)
}

fn time(text: &str, precision: Precision) -> Result<Node> {
    let time = canonical_time(text, precision).map_err(|_| Mismatch)?;
    Ok(time.map_or_else(Node::null, Node::string))
}

fn quantity(text: &str) -> Result<Node> {
    Quantity::canonical(text).map(|text| Node::string(text.as_ref())).map_err(|_| Mismatch)
}

fn integer(value: i64) -> Node {
    Node::scalar(value.to_string(), Tag::Int)
}

fn is_null(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| canonical(scalar) == Ok(Canonical::Null))
}

/// Whether a printed value counts as empty: nothing, no, zero, or a text or collection without content.
fn is_empty(printed: &Node) -> bool {
    match &printed.value {
        Value::Scalar(scalar) => match scalar.tag {
            Tag::Str => scalar.text.is_empty(),
            Tag::Int => scalar.text == "0",
            Tag::Bool => canonical(scalar) == Ok(Canonical::Bool(false)),
            _ => scalar.tag == Tag::Null,
        },
        Value::Seq(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
    }
}
