//! Which objects of a list or a watch are meant.

use flumen_expr::LabelSelector;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ApiError, Query, Resource, meta, rules, storage};

/// Labels and fields that objects must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: Vec<FieldTerm>,
}

#[derive(Clone, Debug)]
struct FieldTerm {
    field: String,
    value: String,
    is_equal: bool,
}

impl Selection {
    pub(crate) fn of(query: &Query, resource: &Resource) -> Result<Self, ApiError> {
        let labels = query.get("labelSelector").unwrap_or_default();
        let labels = LabelSelector::parse_query(labels).map_err(ApiError::bad_request)?;
        let fields = query.get("fieldSelector").unwrap_or_default();
        let fields = parse_fields(fields).map_err(ApiError::bad_request)?;
        let fields = fields.into_iter().map(|term| {
            rules::check_selectable(resource, &term.field).map_err(ApiError::bad_request)?;
            Ok(term)
        });
        Ok(Self { labels, fields: fields.collect::<Result<_, ApiError>>()? })
    }

    /// Only the object of a name.
    #[must_use]
    pub(crate) fn with_name(mut self, name: &str) -> Self {
        if !name.is_empty() {
            let (field, value) = ("metadata.name".to_owned(), name.to_owned());
            self.fields.push(FieldTerm { field, value, is_equal: true });
        }
        self
    }

    /// Whether one object is meant, by its name.
    pub(crate) fn is_single(&self) -> bool {
        self.fields.iter().any(|term| term.field == "metadata.name" && term.is_equal)
    }

    /// Whether everything is meant.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is meant, of which no more is read than that takes.
    pub(crate) fn matches(&self, resource: &Resource, stored: &[u8]) -> Result<bool, ApiError> {
        if self.is_everything() {
            return Ok(true);
        }
        let is_outlined =
            |term: &FieldTerm| matches!(&*term.field, "metadata.name" | "metadata.namespace");
        let object = if self.fields.iter().all(is_outlined) {
            serde_json::from_slice::<Outline>(stored).and_then(serde_json::to_value)
        } else {
            serde_json::from_slice(stored)
        };
        Ok(self.matches_value(resource, &object.map_err(storage::unreadable)?))
    }

    fn matches_value(&self, resource: &Resource, object: &Value) -> bool {
        self.labels.match_with(|key| meta::label(object, key))
            && self.fields.iter().all(|term| {
                let value = rules::selectable_value(resource, object, &term.field);
                (value == term.value) == term.is_equal
            })
    }
}

/// What most selectors ask about.
#[derive(Deserialize, Serialize)]
struct Outline {
    metadata: Metadata,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    labels: Option<Map<String, Value>>,
}

/// Terms in the order of their texts, as the server reports the first that is wrong.
fn parse_fields(selector: &str) -> Result<Vec<FieldTerm>, String> {
    let mut terms = split_terms(selector);
    terms.sort_unstable();
    let parse = |term: &str| {
        let (field, operator, value) = split_term(term)
            .ok_or_else(|| format!("invalid selector: '{selector}'; can't understand '{term}'"))?;
        let (field, value) = (field.to_owned(), unescape(value)?);
        Ok(FieldTerm { field, value, is_equal: operator != "!=" })
    };
    terms.into_iter().filter(|term| !term.is_empty()).map(parse).collect()
}

/// Splits at commas that no backslash protects.
fn split_terms(selector: &str) -> Vec<&str> {
    let (mut terms, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (position, letter) in selector.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ',' => {
                terms.push(&selector[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    terms.push(&selector[start..]);
    terms
}

fn split_term(term: &str) -> Option<(&str, &str, &str)> {
    term.char_indices().find_map(|(position, _)| {
        let rest = &term[position..];
        let operator = ["!=", "==", "="].into_iter().find(|operator| rest.starts_with(operator))?;
        Some((&term[..position], operator, &rest[operator.len()..]))
    })
}

fn unescape(value: &str) -> Result<String, String> {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => text.push(escaped),
                other => {
                    let sequence = format!("\\{}", other.map(String::from).unwrap_or_default());
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    ));
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {letter}"
                ));
            }
            other => text.push(other),
        }
    }
    Ok(text)
}
