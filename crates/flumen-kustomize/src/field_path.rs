//! Field paths with dots, as replacements and variables write them.
//!
//! `spec.template.spec.containers.[name=web].env.0.value`: fields, positions, and elements chosen by
//! what a field of theirs holds. A dot that belongs to a name has a backslash before it, or the name
//! stands in brackets.

use flumen_yaml::{Node, Value};

use crate::{
    error::{Error, Result},
    fieldspec::wrong_kind,
};

/// Splits a path at its dots.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut pieces = path.split('.').peekable();
    if path.contains('.') && path.starts_with('.') {
        pieces.next();
    }
    let mut part = String::new();
    while let Some(piece) = pieces.next() {
        match piece.strip_suffix('\\') {
            Some(start) if pieces.peek().is_some() => {
                part.push_str(start);
                part.push('.');
            }
            _ => {
                part.push_str(piece);
                parts.push(std::mem::take(&mut part));
            }
        }
    }
    join_bracketed(parts)
}

/// Puts back together what stands in one pair of brackets. Brackets around a plain name go away.
fn join_bracketed(parts: Vec<String>) -> Vec<String> {
    let mut joined = Vec::with_capacity(parts.len());
    let mut parts = parts.into_iter();
    while let Some(mut part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            joined.push(part);
            continue;
        }
        for next in parts.by_ref() {
            part.push('.');
            part.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        if part.contains('=') {
            joined.push(part);
        } else {
            joined.push(part.trim_matches(['[', ']']).to_owned());
        }
    }
    joined
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Field(&'a str),
    Index(usize),
    /// `[field=value]`; without a field the element itself has the value.
    Element {
        field: &'a str,
        value: &'a str,
    },
    /// `*`
    Every,
}

impl<'a> Part<'a> {
    pub(crate) fn parse(part: &'a str) -> Result<Self> {
        if let Some(index) = index(part) {
            return Ok(Self::Index(index));
        }
        if part == "*" {
            return Ok(Self::Every);
        }
        if !is_element(part) {
            return Ok(Self::Field(part));
        }
        let inner = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
        match inner.unwrap_or_default().split_once('=') {
            Some((field, value)) => Ok(Self::Element { field, value }),
            None => Err(Error::new(
                "list path element must contain fieldName=fieldValue for element to match",
            )),
        }
    }
}

/// A position, with an optional plus sign.
pub(crate) fn index(part: &str) -> Option<usize> {
    part.parse().ok()
}

pub(crate) fn is_element(part: &str) -> bool {
    part.starts_with('[') && part.ends_with(']')
}

/// A field by the index of the entry or element on each level.
pub(crate) type Place = Vec<usize>;

/// Where a path leads, if it leads anywhere. Empty parts are skipped.
pub(crate) fn locate(root: &Node, path: &[String]) -> Result<Option<Place>> {
    let mut node = root;
    let mut place = Vec::with_capacity(path.len());
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        let Some(index) = find(node, part)? else { return Ok(None) };
        let Some(next) = child(node, index) else { return Ok(None) };
        place.push(index);
        node = next;
    }
    Ok(Some(place))
}

/// The node at the end of a path, if there is one.
pub(crate) fn lookup<'n>(root: &'n Node, path: &[String]) -> Result<Option<&'n Node>> {
    Ok(locate(root, path)?.and_then(|place| follow(root, &place)))
}

fn child(node: &Node, index: usize) -> Option<&Node> {
    match &node.value {
        Value::Map(map) => map.entries().get(index).map(|entry| &entry.value),
        Value::Seq(items) => items.get(index),
        Value::Scalar(_) => None,
    }
}

pub(crate) fn follow<'n>(root: &'n Node, place: &[usize]) -> Option<&'n Node> {
    place.iter().try_fold(root, |node, &index| child(node, index))
}

pub(crate) fn follow_mut<'n>(root: &'n mut Node, place: &[usize]) -> Option<&'n mut Node> {
    place.iter().try_fold(root, |node, &index| match &mut node.value {
        Value::Map(map) => map.entries_mut().get_mut(index).map(|entry| &mut entry.value),
        Value::Seq(items) => items.get_mut(index),
        Value::Scalar(_) => None,
    })
}

/// The index of the entry or element that a part means.
fn find(node: &Node, part: &str) -> Result<Option<usize>> {
    if part == "-" {
        return Ok(items(node)?.len().checked_sub(1));
    }
    if let Some(negative) = part.parse::<i64>().ok().filter(|number| *number < 0) {
        return Err(Error::new(format!("array index {negative} cannot be negative")));
    }
    match Part::parse(part)? {
        Part::Every => Err(Error::new("wildcard is not supported in PathGetter")
            .hint("`*` works in the targets of replacements only")),
        Part::Index(index) => Ok((index < items(node)?.len()).then_some(index)),
        Part::Element { field: "", value } => {
            Ok(items(node)?.iter().position(|item| item.as_str().unwrap_or_default() == value))
        }
        Part::Element { field, value } => {
            let has_value = |item: &Node| {
                item.get(field).is_some_and(|held| held.as_str().unwrap_or_default() == value)
            };
            Ok(items(node)?.iter().position(has_value))
        }
        Part::Field(name) => match &node.value {
            Value::Map(map) => Ok(map.iter().position(|entry| entry.key == *name)),
            _ if node.is_null() => Ok(None),
            _ => Err(wrong_kind("MappingNode", node)),
        },
    }
}

/// The elements of a sequence; a null has none.
pub(crate) fn items(node: &Node) -> Result<&[Node]> {
    match &node.value {
        Value::Seq(items) => Ok(items),
        _ if node.is_null() => Ok(&[]),
        _ => Err(wrong_kind("SequenceNode", node)),
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Text};

    use super::*;

    #[test]
    fn paths_are_split_at_dots() {
        let check = |path: &str, parts: &[&str]| assert_eq!(split(path), parts, "{path}");
        check("a.b.c", &["a", "b", "c"]);
        check("a", &["a"]);
        check("", &[""]);
        check(".a.b", &["a", "b"]);
        check(r"a\.b.c", &["a.b", "c"]);
        check(r"a.b\", &["a", r"b\"]);
        check("a.[name=x].b", &["a", "[name=x]", "b"]);
        check("a.[name=x.y.z].b", &["a", "[name=x.y.z]", "b"]);
        check("a.[x.y/z].b", &["a", "x.y/z", "b"]);
        check("a.[x.y", &["a", "x.y"]);
    }

    /// Checks what a path finds in a fixed tree.
    #[track_caller]
    fn check(path: &str, expected: &str) {
        let yaml = "{a: {b: [{name: x, v: 1}, {name: y, v: 2}], n: null, l: [p, q]}}";
        let nodes = flumen_yaml::read(&Text::from(yaml), 1, &Budget::default()).expect("valid");
        let root = nodes.first().expect("one document");
        let found = match lookup(root, &split(path)) {
            Ok(Some(node)) => flumen_yaml::to_json(node).expect("printable"),
            Ok(None) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_lead_through_mappings_and_sequences() {
        check("a.b.0.v", "1");
        check("a.b.[name=y].v", "2");
        check("a.b.-.v", "2");
        check("a.b.7", "nothing");
        check("a.b.[name=z].v", "nothing");
        check("a.l.[=q]", "\"q\"");
        check("a.n", "null");
        check("a.n.x", "nothing");
        check("a.x.y", "nothing");
        check("a..n", "null");
        check("a.b.-1", "array index -1 cannot be negative");
        check("a.b.*.v", "wildcard is not supported in PathGetter");
        check("a.b.name", "wrong node kind: expected MappingNode but got SequenceNode");
        check("a.0", "wrong node kind: expected SequenceNode but got MappingNode");
        check(
            "a.b.[name]",
            "list path element must contain fieldName=fieldValue for element to match",
        );
    }
}
