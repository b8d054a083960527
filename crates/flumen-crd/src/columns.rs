//! Columns that a definition adds to the table of its objects.

use flumen_kinds::table::age;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::jsonpath::JsonPath;

/// A column, and how to find its value.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: String,
    pub format: String,
    pub description: String,
    pub priority: i64,
    path: JsonPath,
}

impl Column {
    /// The columns of a version. Without any there is one with the age; after one that cannot be read
    /// there are no others.
    pub(crate) fn all(columns: &[Value]) -> Vec<Self> {
        let age = json!([{
            "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
            "description": AGE_DESCRIPTION,
        }]);
        let columns = match (columns, &age) {
            ([], Value::Array(age)) => age,
            (columns, _) => columns,
        };
        columns.iter().map_while(Self::read).collect()
    }

    fn read(column: &Value) -> Option<Self> {
        let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
        let path = text("jsonPath");
        let description = match text("description") {
            own if !own.is_empty() => own,
            _ => format!("Custom resource definition column (in JSONPath format): {path}"),
        };
        Some(Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or(0),
            path: JsonPath::parse(&path)?,
        })
    }

    /// What stands in the column for an object.
    pub(crate) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = self.path.find(object).into_iter().next() else { return Value::Null };
        match (self.kind.as_str(), value) {
            ("string", value) => Value::from(printed(value)),
            ("integer", Value::Number(number)) => match number.as_i64() {
                Some(int) => int.into(),
                #[expect(clippy::cast_possible_truncation, reason = "whole numbers are asked for")]
                None => number.as_f64().map_or(Value::Null, |float| (float as i64).into()),
            },
            ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
            ("date", Value::String(text)) => match text.parse::<Timestamp>() {
                Ok(time) => age(Some(time), now).into(),
                Err(_) if text.is_empty() => "<unknown>".into(),
                Err(_) => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}

const AGE_DESCRIPTION: &str = "CreationTimestamp is a timestamp representing the server time when this \
object was created. It is not guaranteed to be set in happens-before order across separate operations. \
Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the \
system. Read-only. Null for lists. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// A value as text: lists and objects as JSON.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            flumen_cel::double_to_text(number.as_f64().unwrap_or(f64::NAN))
        }
        other => other.to_string(),
    }
}
