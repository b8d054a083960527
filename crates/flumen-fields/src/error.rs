//! What is wrong with a field, in the words of the API server.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use serde_json::Value;

use crate::Path;

/// One cause of a refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    pub kind: FieldErrorKind,
    /// The place of the field; empty for the object itself.
    pub field: String,
    /// The value that was refused, if it is to be shown.
    pub value: Option<Shown>,
    pub detail: String,
}

/// A value as messages show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    Value(Value),
    /// Already as it is to be printed: structs, whose fields have the order of their source.
    Text(String),
}

impl<T: Into<Value>> From<T> for Shown {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    NotFound,
    Required,
    Duplicate,
    Invalid,
    NotSupported,
    Forbidden,
    TooLong,
    TooMany,
    Internal,
    TypeInvalid,
}

impl FieldErrorKind {
    /// The reason in the causes of a Status.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }
}

impl FieldError {
    pub fn new(
        kind: FieldErrorKind,
        at: &Path<'_>,
        value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        let value = value.map(Shown::Value);
        Self { kind, field: at.to_string(), value, detail: detail.into() }
    }

    pub fn required(at: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, at, None, detail)
    }

    pub fn invalid(at: &Path<'_>, value: impl Into<Shown>, detail: impl Into<String>) -> Self {
        Self::showing(FieldErrorKind::Invalid, at, value, detail)
    }

    pub fn duplicate(at: &Path<'_>, value: impl Into<Shown>) -> Self {
        Self::showing(FieldErrorKind::Duplicate, at, value, "")
    }

    pub fn not_found(at: &Path<'_>, value: impl Into<Shown>) -> Self {
        Self::showing(FieldErrorKind::NotFound, at, value, "")
    }

    pub fn forbidden(at: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, at, None, detail)
    }

    /// The supported values are shown in the order that is given.
    pub fn not_supported(at: &Path<'_>, value: impl Into<Shown>, valid: &[&str]) -> Self {
        let mut detail = String::new();
        for value in valid {
            detail.push_str(if detail.is_empty() { "supported values: " } else { ", " });
            quote(&mut detail, value);
        }
        Self::showing(FieldErrorKind::NotSupported, at, value, detail)
    }

    pub fn too_long(at: &Path<'_>, maximum: usize) -> Self {
        let unit = if maximum == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {maximum} {unit}");
        Self::new(FieldErrorKind::TooLong, at, None, detail)
    }

    pub fn too_many(at: &Path<'_>, actual: usize, maximum: usize) -> Self {
        let unit = if maximum == 1 { "item" } else { "items" };
        let detail = format!("must have at most {maximum} {unit}");
        Self::new(FieldErrorKind::TooMany, at, Some(actual.into()), detail)
    }

    pub fn internal(at: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Internal, at, None, detail)
    }

    fn showing(
        kind: FieldErrorKind,
        at: &Path<'_>,
        value: impl Into<Shown>,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, field: at.to_string(), value: Some(value.into()), detail: detail.into() }
    }

    /// What is wrong, without the place.
    pub fn body(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let Some(value) = &self.value {
            text.push_str(": ");
            match value {
                Shown::Value(Value::String(value)) => quote(&mut text, value),
                Shown::Value(value) => escape(&mut text, &value.to_string()),
                Shown::Text(value) => text.push_str(value),
            }
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// Several causes in one line. Equal ones are named once.
    pub fn summary(errors: &[Self]) -> String {
        let mut seen = BTreeSet::new();
        let mut distinct = Vec::new();
        for error in errors {
            let text = error.to_string();
            if seen.insert(text.clone()) {
                distinct.push(text);
            }
        }
        match distinct.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// A string in quotes, as Go prints it.
fn quote(into: &mut String, value: &str) {
    into.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => {
                into.push('\\');
                into.push(character);
            }
            '\x07' => into.push_str("\\a"),
            '\x08' => into.push_str("\\b"),
            '\x0c' => into.push_str("\\f"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\x0b' => into.push_str("\\v"),
            control if control < ' ' || control == '\x7f' => {
                let _ = write!(into, "\\x{:02x}", u32::from(control));
            }
            other if other.is_control() || (other.is_whitespace() && other != ' ') => {
                let _ = write!(into, "\\u{:04x}", u32::from(other));
            }
            other => into.push(other),
        }
    }
    into.push('"');
}

/// JSON as Go prints it: safe to embed in HTML.
fn escape(into: &mut String, json: &str) {
    for character in json.chars() {
        match character {
            '<' => into.push_str("\\u003c"),
            '>' => into.push_str("\\u003e"),
            '&' => into.push_str("\\u0026"),
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FieldError, Shown};
    use crate::Path;

    #[track_caller]
    fn check(error: &FieldError, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn values_are_shown_by_their_type() {
        let at = Path::new("a");
        check(
            &FieldError::invalid(&at, "x\"\u{1}é", "bad"),
            "a: Invalid value: \"x\\\"\\x01é\": bad",
        );
        check(&FieldError::invalid(&at, 3, "bad"), "a: Invalid value: 3: bad");
        check(
            &FieldError::invalid(&at, json!({"a": "<"}), ""),
            "a: Invalid value: {\"a\":\"\\u003c\"}",
        );
        check(&FieldError::duplicate(&at, Shown::Text("{B}".into())), "a: Duplicate value: {B}");
        check(&FieldError::required(&at, ""), "a: Required value");
    }

    #[test]
    fn details_follow_the_kind() {
        let at = Path::new("a");
        check(&FieldError::too_long(&at, 1), "a: Too long: may not be more than 1 byte");
        check(&FieldError::too_many(&at, 9, 8), "a: Too many: 9: must have at most 8 items");
        check(
            &FieldError::not_supported(&at, "c", &["b", "a"]),
            "a: Unsupported value: \"c\": supported values: \"b\", \"a\"",
        );
    }

    #[test]
    fn a_summary_names_equal_causes_once() {
        let at = Path::new("a");
        let one = FieldError::required(&at, "");
        assert_eq!(FieldError::summary(std::slice::from_ref(&one)), "a: Required value");
        let other = FieldError::forbidden(&at, "no");
        let all = [one.clone(), other, one];
        assert_eq!(FieldError::summary(&all), "[a: Required value, a: Forbidden: no]");
    }
}
