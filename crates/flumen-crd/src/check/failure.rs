//! What is wrong with a value, before it is told.

use std::fmt;

use flumen_fields::{FieldError, FieldErrorKind};
use serde_json::Value;

pub(super) type Failures = Vec<Failure>;

/// Where a value stands, built on the way down.
///
/// Keys that the schema does not name have a dot before them even at the root.
pub(crate) enum Place<'a> {
    Root,
    Field(&'a Self, &'a str),
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) | Self::Key(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// In quotation marks.
impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    kind: FieldErrorKind,
    /// `None` for problems that are not told of a place.
    place: Option<String>,
    value: Option<Value>,
    detail: String,
}

impl Failure {
    fn at(kind: FieldErrorKind, place: &Place<'_>, value: Option<Value>, detail: String) -> Self {
        Self { kind, place: Some(place.to_string()), value, detail }
    }

    pub(super) fn general(detail: String) -> Self {
        let value = Some(Value::from(""));
        Self { kind: FieldErrorKind::Invalid, place: None, value, detail }
    }

    pub(super) fn invalid(place: &Place<'_>, value: Value, detail: String) -> Self {
        Self::at(FieldErrorKind::Invalid, place, Some(value), detail)
    }

    /// The value is of another type, or has not the form that its format asks for.
    pub(super) fn of_type(place: &Place<'_>, found: &str, expected: &str) -> Self {
        let detail = format!("{place} in body must be of type {expected}: {found:?}");
        Self::at(FieldErrorKind::TypeInvalid, place, Some(Value::from(found)), detail)
    }

    pub(super) fn required(place: &Place<'_>) -> Self {
        Self::at(FieldErrorKind::Required, place, None, String::new())
    }

    pub(super) fn too_long(place: &Place<'_>, most: i64) -> Self {
        let unit = if most == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {most} {unit}");
        Self::at(FieldErrorKind::TooLong, place, None, detail)
    }

    pub(super) fn too_many(place: &Place<'_>, size: usize, most: i64) -> Self {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        Self::at(FieldErrorKind::TooMany, place, Some(Value::from(size)), detail)
    }

    pub(super) fn not_among(place: &Place<'_>, value: &Value, choices: &[Value]) -> Self {
        let quoted = choices.iter().map(|choice| match choice {
            Value::String(text) => format!("{text:?}"),
            other => format!("{:?}", other.to_string()),
        });
        let detail = format!("supported values: {}", quoted.collect::<Vec<_>>().join(", "));
        Self::at(FieldErrorKind::NotSupported, place, Some(value.clone()), detail)
    }

    pub(super) fn into_error(self, prefix: Option<&str>) -> FieldError {
        let name = self.place.as_deref().unwrap_or_default();
        let name = name.strip_prefix('.').unwrap_or(name);
        let field = match (prefix, name) {
            (Some(prefix), "") => prefix.to_owned(),
            (Some(prefix), name) => format!("{prefix}.{name}"),
            (None, "") => NO_PLACE.to_owned(),
            (None, name) => name.to_owned(),
        };
        let value = self.value.map(Into::into);
        FieldError { kind: self.kind, field, value, detail: self.detail }
    }
}

/// How a problem without a place is told.
pub(crate) const NO_PLACE: &str = "<nil>";
