//! Writing into scalars that may be there already.
//!
//! kustomize keeps the quotes of a scalar when it sets its value, and in the end they decide: what
//! stands in quotes is a string, also where a number was meant. Without quotes the value is what
//! kustomize says it is, or else what it looks like.

use flumen_yaml::{Node, Pos, Scalar, Style, Tag, Text, Value};

use crate::{
    error::{Error, Result},
    fieldspec::wrong_kind,
};

/// Sets the text of a scalar and says what it is, which quotes around the old text overrule.
pub(crate) fn set(node: &mut Node, text: Text, tag: Tag) -> Result<()> {
    match &mut node.value {
        Value::Scalar(scalar) => {
            scalar.text = text;
            scalar.tag = if scalar.style == Style::Plain { tag } else { Tag::Str };
            Ok(())
        }
        _ => Err(wrong_kind("ScalarNode", node)),
    }
}

/// Sets the text of a scalar; in quotes it is a string, without them whatever it looks like.
pub(crate) fn set_untagged(node: &mut Node, text: Text) -> Result<()> {
    let tag = match &node.value {
        Value::Scalar(Scalar { style: Style::Plain, .. }) => flumen_yaml::resolve(&text),
        _ => Tag::Str,
    };
    set(node, text, tag)
}

/// A string that is new in a tree, in quotes if it could be taken for something else.
///
/// kustomize quotes it then, which shows when a later step sets the value without saying what it is.
pub(crate) fn new_string(text: Text) -> Node {
    Node::new(Pos::default(), Value::Scalar(new_string_scalar(text)))
}

pub(crate) fn new_string_scalar(text: Text) -> Scalar {
    let is_plain = flumen_yaml::resolve(&text) == Tag::Str && !is_old_boolean(&text);
    let style = if is_plain || text.is_empty() { Style::Plain } else { Style::DoubleQuoted };
    Scalar { text, tag: Tag::Str, style }
}

/// Words that were booleans in YAML 1.1.
fn is_old_boolean(text: &str) -> bool {
    const WORDS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];
    text.len() <= 3 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The text of a scalar, for putting something before or behind it.
pub(crate) fn text(node: &Node) -> &str {
    node.as_str().unwrap_or_default()
}

/// Refuses a key that kustomize would add without quotes and then not take for a string.
pub(crate) fn check_new_key(key: &str) -> Result<()> {
    let looks_like = match flumen_yaml::resolve(key) {
        Tag::Str | Tag::Binary => return Ok(()),
        Tag::Null => "null",
        Tag::Bool => "a boolean",
        Tag::Int | Tag::Float => "a number",
        Tag::Timestamp => "a date",
        Tag::Merge => "a merge key",
    };
    Err(Error::new(format!("cannot add the key '{key}': kustomize takes it for {looks_like}"))
        .hint("add it in a manifest or with a patch, in quotes"))
}
