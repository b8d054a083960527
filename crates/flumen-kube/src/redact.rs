//! Answers about secrets, without their values.
//!
//! A server that cannot make sense of a field quotes what it found there.

use flumen_object::Gvk;
use flumen_yaml::{Node, Value};

use crate::{Error, Status};

/// What stands before a quoted value; the value goes on to an end that cannot be told for sure.
const QUOTES: [&str; 2] = ["got &", ", error found in #"];
/// Shorter values are left: they are in every other word.
const SHORTEST: usize = 4;
const MASK: &str = "***";

/// Takes the values of a secret that was sent out of the answer to it.
pub(crate) fn without_values(error: Error, gvk: &Gvk, sent: &Node) -> Error {
    match error {
        Error::Refused(status) if gvk.group.is_empty() && gvk.kind == "Secret" => {
            Error::Refused(Box::new(redacted(*status, sent)))
        }
        error => error,
    }
}

fn redacted(mut status: Status, sent: &Node) -> Status {
    let mut values = Vec::new();
    for field in ["data", "stringData"] {
        sent.get(field).into_iter().for_each(|node| collect(node, &mut values));
    }
    // A value that begins with another one goes first.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let causes = status.causes.iter_mut().map(|cause| &mut cause.message);
    for message in causes.chain([&mut status.message]) {
        if let Some(start) = QUOTES.iter().filter_map(|quote| message.find(quote)).min() {
            message.truncate(start);
            message.push_str(MASK);
        }
        for value in &values {
            if message.contains(value) {
                *message = message.replace(value, MASK);
            }
        }
    }
    status
}

fn collect<'a>(node: &'a Node, values: &mut Vec<&'a str>) {
    match &node.value {
        Value::Scalar(scalar) if scalar.text.len() >= SHORTEST => values.push(&scalar.text),
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter().for_each(|item| collect(item, values)),
        Value::Map(map) => map.iter().for_each(|entry| collect(&entry.value, values)),
    }
}
