//! What is known of a value before it is there.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value as Json;

use crate::{
    Fault,
    types::{ObjectType, Type},
};

/// The type of a value, how large it can get, and how to read it from JSON.
#[derive(Debug)]
pub struct Shape {
    pub kind: ShapeKind,
    /// The most characters, elements or entries.
    pub max_elements: u64,
    /// The fewest bytes that it takes in JSON.
    pub min_size: u64,
}

#[derive(Debug)]
pub enum ShapeKind {
    /// A number or a text, which shows when it is there.
    Dyn,
    Bool,
    Int,
    Double,
    Text,
    Bytes,
    /// A text with a day, or with a day and a time.
    Timestamp,
    Duration,
    List {
        element: Arc<Shape>,
        identity: Identity,
    },
    Map(Arc<Shape>),
    /// Fields by the names that expressions have for them.
    Object(BTreeMap<String, Field>),
}

#[derive(Debug)]
pub struct Field {
    /// The name in JSON.
    pub name: String,
    pub shape: Arc<Shape>,
}

/// What makes elements of a list the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    Place,
    Value,
    Keys(Vec<String>),
}

impl Shape {
    pub fn type_of(self: &Arc<Self>) -> Type {
        match &self.kind {
            ShapeKind::Dyn => Type::Dyn,
            ShapeKind::Bool => Type::Bool,
            ShapeKind::Int => Type::Int,
            ShapeKind::Double => Type::Double,
            ShapeKind::Text => Type::Text,
            ShapeKind::Bytes => Type::Bytes,
            ShapeKind::Timestamp => Type::Timestamp,
            ShapeKind::Duration => Type::Duration,
            ShapeKind::List { element, .. } => Type::list(element.type_of()),
            ShapeKind::Map(value) => Type::map(Type::Text, value.type_of()),
            ShapeKind::Object(_) => Type::Object(ObjectType(Arc::clone(self))),
        }
    }

    /// Why a value has not this shape. Where nothing is, nothing is wrong.
    pub(crate) fn misfit(&self, json: &Json) -> Option<Fault> {
        let expected = match (&self.kind, json) {
            (_, Json::Null)
            | (ShapeKind::Bool, Json::Bool(_))
            | (ShapeKind::Double, Json::Number(_))
            | (
                ShapeKind::Dyn
                | ShapeKind::Text
                | ShapeKind::Bytes
                | ShapeKind::Timestamp
                | ShapeKind::Duration,
                Json::String(_),
            )
            | (ShapeKind::List { .. }, Json::Array(_))
            | (ShapeKind::Map(_) | ShapeKind::Object(_), Json::Object(_)) => return None,
            (ShapeKind::Dyn | ShapeKind::Int, Json::Number(number)) if number.is_i64() => {
                return None;
            }
            (ShapeKind::Dyn, _) => "XIntOrString value to be either a string or integer",
            (ShapeKind::List { .. }, _) => "an array for the provided schema with type=array",
            (ShapeKind::Map(_) | ShapeKind::Object(_), _) => {
                "a map for the provided schema with type=object"
            }
            (ShapeKind::Bool, found) => return Some(unexpected("bool", found)),
            (ShapeKind::Int, found) => return Some(unexpected("int", found)),
            (ShapeKind::Double, found) => return Some(unexpected("float", found)),
            (_, found) => return Some(unexpected("string", found)),
        };
        Some(Fault::new(format!("invalid data, expected {expected}")))
    }

    /// The shape of elements or values.
    pub(crate) fn element(&self) -> Option<&Arc<Self>> {
        match &self.kind {
            ShapeKind::List { element, .. } | ShapeKind::Map(element) => Some(element),
            _ => None,
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        match &self.kind {
            ShapeKind::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// The shape of a field by its name in JSON.
    pub(crate) fn field_of_json(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            ShapeKind::Map(value) => Some(value),
            ShapeKind::Object(fields) => {
                let name = escape(name)?;
                fields.get(&name).map(|field| field.shape.as_ref())
            }
            _ => None,
        }
    }
}

/// Both types in the words of Go.
fn unexpected(expected: &str, found: &Json) -> Fault {
    let found = match found {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    };
    Fault::new(format!("invalid data, expected {expected}, got {found}"))
}

/// Words of the language, or of what it may become; none of them is a name.
pub(crate) const RESERVED_WORDS: [&str; 18] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];
/// Words that are values.
const LITERALS: [&str; 3] = ["true", "false", "null"];

/// The name that expressions have for a field; `None` for fields that they cannot name.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if LITERALS.contains(&name) || RESERVED_WORDS.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        let (text, length) = match char {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[length..];
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_are_made_words_of_the_language() {
        for (name, expected) in [
            ("a", Some("a")),
            ("namespace", Some("__namespace__")),
            ("a-b.c/d", Some("a__dash__b__dot__c__slash__d")),
            ("a__b", Some("a__underscores__b")),
            ("a_b", Some("a_b")),
            ("1a", None),
            ("", None),
            ("ä", None),
        ] {
            assert_eq!(escape(name).as_deref(), expected, "{name}");
        }
    }
}
