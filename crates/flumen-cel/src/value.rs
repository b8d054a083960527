//! Values of expressions.

use std::{cmp::Ordering, rc::Rc};

use flumen_yaml::{Canonical, Node, canonical};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::{Budget, Fault, text::Text};

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
}

#[derive(Clone, Debug)]
pub enum List<'a> {
    Nodes(&'a [Node]),
    Json(&'a [Json]),
    Made(Rc<Vec<Value<'a>>>),
}

#[derive(Clone, Debug)]
pub enum Entries<'a> {
    Nodes(&'a flumen_yaml::Map),
    Json(&'a serde_json::Map<String, Json>),
    Made(Rc<Vec<(Value<'a>, Value<'a>)>>),
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
            Json::Array(items) => Self::List(List::Json(items)),
            Json::Object(map) => Self::Map(Entries::Json(map)),
        }
    }
}

impl<'a> Value<'a> {
    pub fn text(text: impl Into<Text<'a>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list(values: Vec<Self>) -> Self {
        Self::List(List::Made(Rc::new(values)))
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    pub(crate) const fn type_name(&self) -> &'static str {
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
        }
    }

    /// Equality over all types: numbers compare by value, other values of different types differ.
    pub(crate) fn equals(&self, other: &Self, budget: &mut Budget) -> Result<bool, Fault> {
        budget.spend(1)?;
        Ok(match (self, other) {
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
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => a.equals(b, budget)?,
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
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

impl<'a> List<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nodes(nodes) => nodes.len(),
            Self::Json(items) => items.len(),
            Self::Made(values) => values.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Nodes(nodes) => nodes.get(index).map(Value::from),
            Self::Json(items) => items.get(index).map(Value::from),
            Self::Made(values) => values.get(index).cloned(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Value<'a>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Whether an element equals a value.
    pub(crate) fn contains(&self, value: &Value<'a>, budget: &mut Budget) -> Result<bool, Fault> {
        for element in self.iter() {
            if element.equals(value, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<'a> Entries<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nodes(map) => map.len(),
            Self::Json(map) => map.len(),
            Self::Made(entries) => entries.len(),
        }
    }

    /// The value of a key. Most mappings are searched from the start, and that has its price.
    pub(crate) fn get(
        &self,
        key: &Value<'a>,
        budget: &mut Budget,
    ) -> Result<Option<Value<'a>>, Fault> {
        match self {
            Self::Nodes(map) => {
                budget.spend(1 + map.len() as u64 / 16)?;
                let Value::Text(key) = key else { return Ok(None) };
                Ok(map.get(key).map(Value::from))
            }
            Self::Json(map) => {
                budget.spend(1)?;
                let Value::Text(key) = key else { return Ok(None) };
                Ok(map.get(key.as_str()).map(Value::from))
            }
            Self::Made(entries) => {
                for (candidate, value) in entries.iter() {
                    if candidate.equals(key, budget)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
        }
    }

    /// All entries. Steps are paid for beforehand, by [`Entries::len`].
    pub(crate) fn to_vec(&self) -> Vec<(Value<'a>, Value<'a>)> {
        match self {
            Self::Nodes(map) => map
                .entries()
                .iter()
                .map(|entry| (Value::text(entry.key.as_str()), Value::from(&entry.value)))
                .collect(),
            Self::Json(map) => map
                .iter()
                .map(|(key, value)| (Value::text(key.as_str()), Value::from(value)))
                .collect(),
            Self::Made(entries) => entries.as_ref().clone(),
        }
    }
}
