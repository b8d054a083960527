//! The operations of a patch and how they are read.

use std::collections::HashSet;

use flumen_yaml::{Budget, Canonical, Node, Pos, Style, Tag, Text, Value, canonical};

use crate::{Error, json_text, plain_keys};

/// A JSON patch, RFC 6902.
#[derive(Clone, Debug)]
pub struct JsonPatch {
    pub(super) operations: Vec<Operation>,
    pub(super) source: Source,
}

/// Where a patch was read from, which shows in comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Json,
    Yaml,
}

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) path: Member,
    pub(super) from: Member,
    /// None if there is no value at all, which some operations tell from null.
    pub(super) value: Option<Node>,
    pub(super) pos: Pos,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
    Unknown(Text),
}

/// A member that should be a string. What else it is becomes an error when it is needed.
#[derive(Clone, Debug)]
pub(super) enum Member {
    Path(Text),
    Missing,
    /// Something else, by Go's name for its JSON type.
    Other(&'static str),
}

impl JsonPatch {
    /// Reads a patch from the text of a file or a field.
    ///
    /// A text that begins with `[` must be JSON. Anything else is YAML, of which the first document
    /// counts; nothing in it is a patch without operations. Positions count from `first_line`.
    pub fn read(text: &Text, first_line: u32) -> Result<Self, Error> {
        let is_json = text.starts_with('[');
        if is_json {
            json_text::check(text, first_line)?;
        }
        let node =
            flumen_yaml::read_resource(text, first_line, &Budget::default()).map_err(|error| {
                Error::MalformedPatch { message: error.to_string(), pos: error.pos() }
            })?;
        let source = if is_json { Source::Json } else { Source::Yaml };
        let Some(mut node) = node else { return Ok(Self { operations: Vec::new(), source }) };
        if !is_json && plain_keys::has_key(&node, is_bool) {
            rename_bools(&mut node, &plain_keys::find(text, first_line, is_bool));
        }
        Self::from_node(&node, source)
    }

    /// Takes a patch from a tree that was read as YAML. Prefer [`Self::read`], which also knows what
    /// a tree does not tell: JSON from YAML, and `yes` as a key from `"yes"`.
    pub fn parse(node: &Node) -> Result<Self, Error> {
        Self::from_node(node, Source::Yaml)
    }

    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    fn from_node(node: &Node, source: Source) -> Result<Self, Error> {
        let wrong = |node: &Node, wanted: &str| {
            let message = format!(
                "json: cannot unmarshal {} into Go value of type jsonpatch.{wanted}",
                json_type(node)
            );
            Error::MalformedPatch { message, pos: node.pos }
        };
        let items = match node.as_seq() {
            Some(items) => items.as_slice(),
            None if node.is_null() => &[],
            None => return Err(wrong(node, "Patch")),
        };
        let operation = |item: &Node| {
            if item.is_map() || item.is_null() {
                Ok(Operation::new(item, source))
            } else {
                Err(wrong(item, "Operation"))
            }
        };
        Ok(Self { operations: items.iter().map(operation).collect::<Result<_, _>>()?, source })
    }
}

impl Operation {
    fn new(node: &Node, source: Source) -> Self {
        let kind = match Member::of(node.get("op")) {
            Member::Path(kind) => match kind.as_str() {
                "add" => Kind::Add,
                "remove" => Kind::Remove,
                "replace" => Kind::Replace,
                "move" => Kind::Move,
                "copy" => Kind::Copy,
                "test" => Kind::Test,
                _ => Kind::Unknown(kind),
            },
            _ => Kind::Unknown(Text::literal("unknown")),
        };
        let mut value = node.get("value").cloned();
        if source == Source::Yaml
            && let Some(value) = &mut value
        {
            resolve_as_old_yaml(value);
        }
        let (path, from) = (Member::of(node.get("path")), Member::of(node.get("from")));
        Self { kind, path, from, value, pos: node.pos }
    }
}

impl Member {
    fn of(node: Option<&Node>) -> Self {
        match node {
            Some(node) => match &node.value {
                Value::Scalar(scalar) => match canonical(scalar) {
                    Ok(Canonical::Null) => Self::Missing,
                    Ok(Canonical::Str(_)) => Self::Path(scalar.text.clone()),
                    _ => Self::Other(json_type(node)),
                },
                _ => Self::Other(json_type(node)),
            },
            None => Self::Missing,
        }
    }

    /// What Go's JSON decoder says when it wanted a string.
    pub(super) fn complaint(found: &str) -> String {
        format!("json: cannot unmarshal {found} into Go value of type string")
    }
}

fn json_type(node: &Node) -> &'static str {
    match &node.value {
        Value::Map(_) => "object",
        Value::Seq(_) => "array",
        Value::Scalar(scalar) => match scalar.tag {
            Tag::Bool => "bool",
            Tag::Int | Tag::Float => "number",
            _ => "string",
        },
    }
}

/// Patches in YAML pass through go-yaml v2, which still has `yes` and `no`, and no timestamps.
fn resolve_as_old_yaml(node: &mut Node) {
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| resolve_as_old_yaml(&mut entry.value)),
        Value::Seq(items) => items.iter_mut().for_each(resolve_as_old_yaml),
        Value::Scalar(scalar) if scalar.tag == Tag::Timestamp => {
            scalar.tag = Tag::Str;
            scalar.style = Style::DoubleQuoted;
        }
        Value::Scalar(scalar) if scalar.tag == Tag::Str && scalar.style == Style::Plain => {
            if let Some(value) = old_bool(&scalar.text) {
                scalar.text = Text::literal(value);
                scalar.tag = Tag::Bool;
            }
        }
        Value::Scalar(scalar) if scalar.tag == Tag::Null => *node = Node::null(),
        Value::Scalar(_) => {}
    }
}

/// A boolean of YAML 1.1.
fn old_bool(text: &str) -> Option<&'static str> {
    match text {
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Some("true")
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Some("false")
        }
        _ => None,
    }
}

fn is_bool(key: &str) -> bool {
    old_bool(key).is_some()
}

/// Spells the keys at `places` as JSON does: in a patch, `y: 2` sets `"true"`.
fn rename_bools(node: &mut Node, places: &HashSet<Pos>) {
    match &mut node.value {
        Value::Map(map) => {
            for entry in map {
                if let Some(name) = old_bool(&entry.key)
                    && places.contains(&entry.key_pos)
                {
                    entry.key = Text::literal(name);
                }
                rename_bools(&mut entry.value, places);
            }
        }
        Value::Seq(items) => items.iter_mut().for_each(|item| rename_bools(item, places)),
        Value::Scalar(_) => {}
    }
}
