//! Values of expressions.

use std::{cmp::Ordering, rc::Rc};

use base64::{Engine, engine::general_purpose::URL_SAFE};
use flumen_yaml::{Canonical, Node, canonical};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::{
    Budget, Fault,
    collection::{Entries, List},
    library::Opaque,
    shape::{Shape, ShapeKind},
    text::Text,
    time,
};

/// What an expression yields.
///
/// Parts of an object are borrowed from it, whether it is JSON or a tree of YAML, so that reading a field
/// costs nothing, and keep the order in which the object has them.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'a>),
    Bytes(Rc<[u8]>),
    Timestamp(Timestamp),
    Duration(SignedDuration),
    List(List<'a>),
    Map(Entries<'a>),
    Optional(Option<Rc<Self>>),
    /// The name of a type.
    Type(&'static str),
    /// Of a type that a library brings.
    Opaque(Rc<Opaque>),
    /// What has not the shape that it should have. Whoever asks for it meets the fault.
    Unfit(Rc<Fault>),
}

impl<'a> From<&'a Node> for Value<'a> {
    fn from(node: &'a Node) -> Self {
        match &node.value {
            flumen_yaml::Value::Seq(items) => Self::List(List::Nodes(items)),
            flumen_yaml::Value::Map(map) => Self::Map(Entries::Nodes(map)),
            flumen_yaml::Value::Scalar(scalar) => match canonical(scalar) {
                Ok(Canonical::Null) => Self::Null,
                Ok(Canonical::Bool(bool)) => Self::Bool(bool),
                // Numbers that do not fit become approximate, as they do for JSON in Go.
                #[expect(clippy::cast_precision_loss, reason = "see above")]
                Ok(Canonical::Int(int)) => {
                    i64::try_from(int).map_or(Self::Double(int as f64), Self::Int)
                }
                Ok(Canonical::Float(float)) => Self::Double(float),
                Ok(Canonical::Str(text)) => Self::Text(text.into()),
                Err(_) => Self::text(scalar.text.as_str()),
            },
        }
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(bool) => Self::Bool(*bool),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Self::Int(int),
                None => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::text(text.as_str()),
            Json::Array(items) => Self::List(List::Json(items, None)),
            Json::Object(map) => Self::Map(Entries::Json(map, None)),
        }
    }
}

impl<'a> Value<'a> {
    /// Reads a value that should have a shape.
    pub fn shaped(json: &'a Json, shape: &'a Shape) -> Self {
        if let Some(fault) = shape.misfit(json) {
            return Self::Unfit(Rc::new(fault));
        }
        match (&shape.kind, json) {
            (_, Json::Array(items)) => Self::List(List::Json(items, Some(shape))),
            (_, Json::Object(map)) => Self::Map(Entries::Json(map, Some(shape))),
            (ShapeKind::Double, Json::Number(number)) => {
                Self::Double(number.as_f64().unwrap_or(f64::NAN))
            }
            (ShapeKind::Duration, Json::String(text)) => {
                time::parse_lenient_duration(text).map_or_else(|| Self::from(json), Self::Duration)
            }
            (ShapeKind::Timestamp, Json::String(text)) => {
                time::parse_timestamp(text).map_or_else(|| Self::from(json), Self::Timestamp)
            }
            (ShapeKind::Bytes, Json::String(text)) => URL_SAFE
                .decode(text)
                .map_or_else(|_| Self::from(json), |bytes| Self::Bytes(bytes.into())),
            _ => Self::from(json),
        }
    }

    pub fn text(text: impl Into<Text<'a>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list(values: Vec<Self>) -> Self {
        Self::List(List::Made(Rc::new(values)))
    }

    pub fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    /// The same, borrowed from nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Int(int) => Value::Int(int),
            Self::Uint(int) => Value::Uint(int),
            Self::Double(double) => Value::Double(double),
            Self::Text(text) => Value::text(text.to_string()),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Timestamp(time) => Value::Timestamp(time),
            Self::Duration(duration) => Value::Duration(duration),
            Self::List(list) => Value::list(list.iter().map(Self::into_owned).collect()),
            Self::Map(map) => Value::entries_of(
                map.to_vec()
                    .into_iter()
                    .map(|(key, value)| (key.into_owned(), value.into_owned()))
                    .collect(),
            ),
            Self::Optional(inner) => {
                Value::Optional(inner.map(|inner| Rc::new(inner.as_ref().clone().into_owned())))
            }
            Self::Type(name) => Value::Type(name),
            Self::Opaque(opaque) => Value::Opaque(opaque),
            Self::Unfit(fault) => Value::Unfit(fault),
        }
    }

    /// A mapping of these.
    pub fn entries_of(entries: Vec<(Self, Self)>) -> Self {
        Self::Map(Entries::Made(Rc::new(entries)))
    }

    /// What nobody can use, for a reason in the words of cel-go.
    pub fn unfit(why: String) -> Self {
        Self::Unfit(Rc::new(Fault::new(why)))
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => TIMESTAMP,
            Self::Duration(_) => DURATION,
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Opaque(opaque) => opaque.type_name(),
            Self::Unfit(_) => "error",
        }
    }

    /// The value, if it is one.
    pub(crate) fn fit(self) -> Result<Self, Fault> {
        match self {
            Self::Unfit(fault) => Err(fault.as_ref().clone()),
            value => Ok(value),
        }
    }

    /// Equality over all types: numbers compare by value, other values of different types differ.
    pub(crate) fn equals(&self, other: &Self, budget: &mut Budget) -> Result<bool, Fault> {
        budget.spend(1)?;
        Ok(match (self, other) {
            (Self::Unfit(fault), _) | (_, Self::Unfit(fault)) => {
                return Err(fault.as_ref().clone());
            }
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => {
                budget.spend_bytes(a.len())?;
                a == b
            }
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Opaque(a), Self::Opaque(b)) => a == b,
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => a.equals(b, budget)?,
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                if let Some(same) = a.equals_unordered(b, budget)? {
                    return Ok(same);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !a.equals(&b, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Map(a), Self::Map(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                // Fields that expressions cannot name count too.
                if let (Entries::Json(a, _), Entries::Json(b, _)) = (a, b) {
                    budget.spend(a.len() as u64)?;
                    if !a.keys().eq(b.keys()) {
                        return Ok(false);
                    }
                    let (a, b) = (self.entries(), other.entries());
                    for ((_, a), (_, b)) in a.iter().zip(&b) {
                        if !a.equals(b, budget)? {
                            return Ok(false);
                        }
                    }
                    return Ok(true);
                }
                for (key, a) in a.to_vec() {
                    let Some(b) = b.get(&key, budget)? else { return Ok(false) };
                    if !a.equals(&b, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => compare_numbers(self, other) == Some(Ordering::Equal),
        })
    }

    fn entries(&self) -> Vec<(Self, Self)> {
        match self {
            Self::Map(map) => map.to_vec(),
            _ => Vec::new(),
        }
    }

    /// The order of two values; `None` where there is none.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.as_str().cmp(b.as_str())),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Some(a.cmp(b)),
            _ => compare_numbers(self, other),
        }
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }
}

pub(crate) const TIMESTAMP: &str = "google.protobuf.Timestamp";
pub(crate) const DURATION: &str = "google.protobuf.Duration";

/// The types that an expression can name.
pub(crate) fn type_named(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 13] = [
        "null_type",
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        TIMESTAMP,
        DURATION,
        "list",
        "map",
        "optional_type",
        "type",
    ];
    NAMES.into_iter().find(|known| *known == name)
}

fn compare_numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    use Value::{Double, Int, Uint};
    match (a, b) {
        (Int(a), Int(b)) => Some(a.cmp(b)),
        (Uint(a), Uint(b)) => Some(a.cmp(b)),
        (Double(a), Double(b)) => a.partial_cmp(b),
        (Int(a), Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Uint(a), Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Int(a), Double(b)) => compare_to_double(i128::from(*a), *b),
        (Uint(a), Double(b)) => compare_to_double(i128::from(*a), *b),
        (Double(a), Int(b)) => compare_to_double(i128::from(*b), *a).map(Ordering::reverse),
        (Double(a), Uint(b)) => compare_to_double(i128::from(*b), *a).map(Ordering::reverse),
        _ => None,
    }
}

/// Exact, also where the double is too large to tell neighbouring integers apart.
fn compare_to_double(int: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, beyond any int here")]
    let whole = double.trunc() as i128;
    let fraction = if double.fract() > 0.0 { Ordering::Less } else { Ordering::Greater };
    Some(int.cmp(&whole).then(if double.fract() == 0.0 { Ordering::Equal } else { fraction }))
}
