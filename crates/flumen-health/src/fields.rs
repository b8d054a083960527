//! Fields of an object whose shape nobody has checked.

use std::borrow::Cow;

use flumen_yaml::{Canonical, Node, Value, canonical};

use crate::Error;

/// The meaning of a scalar; `None` for collections and for what has no meaning in JSON.
fn scalar(node: &Node) -> Option<Canonical<'_>> {
    node.as_scalar().and_then(|scalar| canonical(scalar).ok())
}

pub(crate) fn text(node: &Node) -> Option<Cow<'_, str>> {
    match scalar(node)? {
        Canonical::Str(text) => Some(text),
        _ => None,
    }
}

pub(crate) fn int(node: &Node) -> Option<i64> {
    match scalar(node)? {
        Canonical::Int(int) => i64::try_from(int).ok(),
        _ => None,
    }
}

/// The text below a path; `None` also where something else stands.
pub(crate) fn text_at<'a>(object: &'a Node, path: &[&str]) -> Option<Cow<'a, str>> {
    object.at(path).and_then(text)
}

/// The whole number below a path; `None` also where something else stands.
pub(crate) fn int_at(object: &Node, path: &[&str]) -> Option<i64> {
    object.at(path).and_then(int)
}

pub(crate) fn is_true_at(object: &Node, path: &[&str]) -> bool {
    matches!(object.at(path).and_then(scalar), Some(Canonical::Bool(true)))
}

/// As [`text_at`], but something else in the place of the text is an error.
pub(crate) fn checked_text<'a>(
    object: &'a Node,
    path: &[&str],
) -> Result<Option<Cow<'a, str>>, Error> {
    checked(object, path, "string", text)
}

/// As [`int_at`], but something else in the place of the number is an error.
pub(crate) fn checked_int(object: &Node, path: &[&str]) -> Result<Option<i64>, Error> {
    checked(object, path, "int64", int)
}

fn checked<'a, T>(
    object: &'a Node,
    path: &[&str],
    expected: &'static str,
    read: impl Fn(&'a Node) -> Option<T>,
) -> Result<Option<T>, Error> {
    let wrong = |node: &Node, depth: usize, expected| Error::Field {
        path: path.join("."),
        at: path[..depth].join("."),
        value: shown(node),
        found: go_type(node),
        expected,
    };
    let mut node = object;
    for (depth, key) in path.iter().enumerate() {
        if node.is_null() {
            return Ok(None);
        }
        let map = node.as_map().ok_or_else(|| wrong(node, depth + 1, "map[string]interface{}"))?;
        let Some(next) = map.get(key) else {
            return Ok(None);
        };
        node = next;
    }
    read(node).map(Some).ok_or_else(|| wrong(node, path.len(), expected))
}

/// Collections are not spelled out: they may be large, and they may be secret.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Scalar(_) if node.is_null() => "<nil>".to_owned(),
        Value::Scalar(scalar) => scalar.text.to_string(),
        Value::Seq(_) => "[...]".to_owned(),
        Value::Map(_) => "map[...]".to_owned(),
    }
}

/// What a value is called in Go when it was read from JSON.
fn go_type(node: &Node) -> &'static str {
    match go_kind(node) {
        "map" => "map[string]interface {}",
        "slice" => "[]interface {}",
        kind => kind,
    }
}

/// The same without the types of the elements.
pub(crate) fn go_kind(node: &Node) -> &'static str {
    match &node.value {
        Value::Map(_) => "map",
        Value::Seq(_) => "slice",
        Value::Scalar(_) => match scalar(node) {
            Some(Canonical::Str(_)) => "string",
            Some(Canonical::Int(_)) => "int64",
            Some(Canonical::Float(_)) => "float64",
            Some(Canonical::Bool(_)) => "bool",
            Some(Canonical::Null) | None => "<nil>",
        },
    }
}
