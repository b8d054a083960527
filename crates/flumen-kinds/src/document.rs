//! YAML or JSON without any type, as the server reads the body of an apply.
//!
//! The server reads both as YAML 1.1, in which `yes` and `on` are booleans. What follows the first
//! document is not looked at. JSON is the common case and read as such, unless something is wrong
//! with it: then it is YAML that decides what, and where.

use flumen_yaml::{Budget, Canonical, Node, Scalar, Style, Tag};
use serde_json::{Map, Number, Value};

use crate::{decode::float, json};

/// Levels of mappings and lists; see the limit of typed objects.
const MAX_DEPTH: usize = 100;

/// A text that was read.
#[derive(Debug)]
pub struct Document(Source);

#[derive(Debug)]
enum Source {
    Json(Value),
    /// None if the text has no document.
    Yaml(Option<Node>),
}

impl Document {
    /// Reads a text. The error is that of go-yaml.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        if let Some(value) = json_object(body) {
            return Ok(Self(Source::Json(value)));
        }
        let mut budget = Budget::default();
        budget.depth = MAX_DEPTH;
        let text = flumen_yaml::decode(body).map_err(|error| error.to_string())?;
        flumen_yaml::read_lenient(&text, 1, &budget)
            .map(|node| Self(Source::Yaml(node)))
            .map_err(|error| error.to_string())
    }

    /// Keys that are there twice, as `line 7: key "a" already set in map`.
    pub fn duplicates(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Source::Yaml(Some(node)) = &self.0 {
            push_duplicates(&mut found, node);
        }
        found
    }

    /// The value. The error says what JSON cannot have.
    pub fn into_value(self) -> Result<Value, String> {
        match self.0 {
            Source::Json(value) => Ok(value),
            Source::Yaml(None) => Ok(Value::Null),
            Source::Yaml(Some(node)) => value(&node),
        }
    }
}

/// A JSON object in which no key is there twice.
fn json_object(body: &[u8]) -> Option<Value> {
    if !body.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let tape = json::scan(body).ok()?;
    let root = tape.root();
    let value = root.to_value(MAX_DEPTH)?;
    (!root.has_duplicates()).then(|| with_whole_floats(value))
}

/// YAML makes `1.0` the number 1.
fn with_whole_floats(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Number(number) if number.is_f64() => {
                if let Some(whole) = float(&number.to_string()) {
                    *value = whole;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Object(members) => members.values_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

fn value(node: &Node) -> Result<Value, String> {
    match &node.value {
        flumen_yaml::Value::Scalar(scalar) => self::scalar(scalar),
        flumen_yaml::Value::Seq(items) => {
            items.iter().map(value).collect::<Result<_, _>>().map(Value::Array)
        }
        flumen_yaml::Value::Map(map) => {
            let mut members = Map::new();
            for entry in map {
                members.insert(entry.key.as_str().to_owned(), value(&entry.value)?);
            }
            Ok(Value::Object(members))
        }
    }
}

fn scalar(scalar: &Scalar) -> Result<Value, String> {
    let text = scalar.text.as_str();
    match (scalar.tag, scalar.style) {
        (Tag::Str, Style::Plain) => {
            return Ok(old_bool(text).map_or_else(|| text.into(), Value::Bool));
        }
        // Dates are strings, spelled as they are.
        (Tag::Timestamp, _) => return Ok(text.into()),
        _ => {}
    }
    let canonical = flumen_yaml::canonical(scalar).map_err(|error| error.to_string())?;
    Ok(match canonical {
        Canonical::Null => Value::Null,
        Canonical::Bool(value) => Value::Bool(value),
        Canonical::Int(value) => integer(value),
        Canonical::Float(value) => float(&value.to_string()).unwrap_or_default(),
        Canonical::Str(text) => Value::String(text.into_owned()),
    })
}

fn integer(value: i128) -> Value {
    let number = i64::try_from(value).map(Number::from);
    number.or_else(|_| u64::try_from(value).map(Number::from)).map_or(Value::Null, Value::Number)
}

/// The booleans of YAML 1.1 that 1.2 has no more.
fn old_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn push_duplicates(found: &mut Vec<String>, node: &Node) {
    match &node.value {
        flumen_yaml::Value::Scalar(_) => {}
        flumen_yaml::Value::Seq(items) => {
            for item in items {
                push_duplicates(found, item);
            }
        }
        flumen_yaml::Value::Map(map) => {
            let mut seen = std::collections::BTreeSet::new();
            for entry in map {
                push_duplicates(found, &entry.value);
                let key = entry.key.as_str();
                if !seen.insert(key) {
                    let line = entry.value.pos.line;
                    found.push(format!("line {line}: key {key:?} already set in map"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
