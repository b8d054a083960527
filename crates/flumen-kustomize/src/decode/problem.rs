//! Why a tree could not be read as a record.

use std::{fmt, path::Path};

use flumen_expr::nearest;
use flumen_yaml::{Pos, Text};

use super::key_of;
use crate::error::Error;

/// What a value is, in the words of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        })
    }
}

/// A mistake, its place, and how far up its way out it has been named.
#[derive(Debug)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    cause: Cause,
    pos: Pos,
    hint: Option<String>,
    /// The record that has the field in which the mistake was made.
    record: Option<&'static str>,
    /// Names of fields, innermost first.
    path: Vec<&'static str>,
}

#[derive(Debug)]
enum Cause {
    Mismatch { found: String, wanted: String },
    Other(String),
}

impl Problem {
    /// A mistake with words of its own.
    pub(crate) fn new(message: impl Into<String>, pos: Pos) -> Self {
        Self::from_cause(Cause::Other(message.into()), pos, None)
    }

    pub(super) fn mismatch(found: Found, wanted: String, pos: Pos) -> Self {
        let hint = match (found, wanted.as_str()) {
            (Found::Number | Found::Bool, "string") => Some("put it in quotes to make it a string"),
            (Found::String | Found::Object, wanted) if wanted.starts_with("[]") => {
                Some("a list is wanted: begin each item with `- `")
            }
            (Found::String, "bool") => Some("write true or false, without quotes"),
            (Found::String, "int" | "int64") => Some("write a whole number, without quotes"),
            _ => None,
        };
        let cause = Cause::Mismatch { found: found.to_string(), wanted };
        Self::from_cause(cause, pos, hint.map(str::to_owned))
    }

    /// A number that does not fit.
    pub(super) fn number(text: &str, wanted: &str, pos: Pos) -> Self {
        let cause = Cause::Mismatch { found: format!("number {text}"), wanted: wanted.to_owned() };
        Self::from_cause(cause, pos, None)
    }

    pub(super) fn unknown(key: &Text, pos: Pos, known: &[&'static str]) -> Self {
        let nearest = nearest(key, known.iter().map(|name| key_of(name)));
        let hint = nearest.map(|name| format!("did you mean `{name}`?"));
        Self::from_cause(Cause::Other(format!("json: unknown field {key:?}")), pos, hint)
    }

    fn from_cause(cause: Cause, pos: Pos, hint: Option<String>) -> Self {
        Self(Box::new(Parts { cause, pos, hint, record: None, path: Vec::new() }))
    }

    #[must_use]
    pub(super) fn inside(mut self, record: &'static str, field: &'static str) -> Self {
        self.0.record.get_or_insert(record);
        self.0.path.push(field);
        self
    }

    pub(super) fn into_error(self, file: &Path) -> Error {
        let mut error = Error::new(self.to_string()).at(file, self.0.pos);
        if self.is_among_secrets() {
            error = error.keep_private();
        }
        match self.0.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl Problem {
    /// Whether the line of the mistake may hold a secret.
    fn is_among_secrets(&self) -> bool {
        self.0.record == Some("builtins.SecretGeneratorPlugin")
            || self.0.path.contains(&"secretGenerator")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { cause, record, path, .. } = &*self.0;
        match cause {
            Cause::Other(message) => f.write_str(message),
            Cause::Mismatch { found, wanted } => {
                write!(f, "json: cannot unmarshal {found} into Go ")?;
                match record {
                    Some(record) => {
                        // Messages name the record without its package.
                        write!(f, "struct field {}", key_of(record))?;
                        for field in path.iter().rev() {
                            write!(f, ".{field}")?;
                        }
                    }
                    None => f.write_str("value")?,
                }
                write!(f, " of type {wanted}")
            }
        }
    }
}
