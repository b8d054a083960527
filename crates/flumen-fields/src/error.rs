//! What is wrong with a field.

use std::fmt;

use serde_json::Value;

use crate::Path;

/// One cause of a refusal, in the words of the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    pub kind: FieldErrorKind,
    /// The place of the field; empty for the object itself.
    pub field: String,
    /// The value that was refused, if it is to be shown.
    pub value: Option<Value>,
    pub detail: String,
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
        Self { kind, field: at.to_string(), value, detail: detail.into() }
    }

    pub fn required(at: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, at, None, detail)
    }

    pub fn invalid(at: &Path<'_>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, at, Some(value.into()), detail)
    }

    pub fn duplicate(at: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::Duplicate, at, Some(value.into()), "")
    }

    pub fn not_found(at: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::NotFound, at, Some(value.into()), "")
    }

    pub fn forbidden(at: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, at, None, detail)
    }

    pub fn not_supported(at: &Path<'_>, value: impl Into<Value>, valid: &[&str]) -> Self {
        let valid: Vec<String> = valid.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", valid.join(", "));
        Self::new(FieldErrorKind::NotSupported, at, Some(value.into()), detail)
    }

    pub fn too_long(at: &Path<'_>, maximum: usize) -> Self {
        let detail = format!("may not be more than {maximum} bytes");
        Self::new(FieldErrorKind::TooLong, at, None, detail)
    }

    /// What is wrong, without the place.
    pub fn body(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let Some(value) = &self.value {
            text.push_str(": ");
            text.push_str(&value.to_string());
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}
