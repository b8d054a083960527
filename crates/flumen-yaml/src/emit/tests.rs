//! Texts and trees whose printed form was recorded from `kustomize build` 5.8.1.

use std::{fs, path::Path};

use serde_json::Value as Json;

use super::*;
use crate::{Style, Text};

fn from_json(json: &Json) -> Node {
    match json {
        Json::Null => Node::null(),
        Json::Bool(value) => Node::scalar(value.to_string(), Tag::Bool),
        Json::Number(number) if number.is_f64() => Node::scalar(number.to_string(), Tag::Float),
        Json::Number(number) => Node::scalar(number.to_string(), Tag::Int),
        Json::String(text) => {
            // A JSON string is a double-quoted scalar.
            let scalar = Scalar {
                text: Text::from(text.as_str()),
                tag: Tag::Str,
                style: Style::DoubleQuoted,
            };
            Node::new(Pos::default(), Value::Scalar(scalar))
        }
        Json::Array(items) => Node::seq(items.iter().map(from_json).collect()),
        Json::Object(fields) => {
            let entries = fields.iter().map(|(key, value)| Entry::new(&**key, from_json(value)));
            Node::new(Pos::default(), Value::Map(entries.collect()))
        }
    }
}

fn printed(node: &Node) -> String {
    let mut out = Vec::new();
    emit(node, &mut out).expect("the tree can be printed");
    String::from_utf8(out).expect("the output is UTF-8")
}

/// The large acceptance set lies beside the checkout, not in it.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test should say so")]
fn acceptance_set() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/yaml");
    let (Ok(input), Ok(expected)) = (
        fs::read_to_string(dir.join("emit-input.yaml")),
        fs::read_to_string(dir.join("emit-expected.yaml")),
    ) else {
        eprintln!("skipped: no acceptance set beside this checkout");
        return;
    };
    let json = serde_json::from_str(&input).expect("the input is JSON");
    let output = printed(&from_json(&json));
    for (number, (line, wanted)) in output.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, wanted, "line {}", number + 1);
    }
    assert_eq!(output.len(), expected.len());
}
