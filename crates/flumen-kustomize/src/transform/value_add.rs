//! A value written into fields, or inserted into the paths that they hold.

use std::path::Path;

use flumen_fs::clean;
use flumen_yaml::{Entry, Node, Text, Value};

use crate::{
    error::{Error, Result},
    fieldspec::wrong_kind,
    kustomization::fields::Selector,
    resmap::ResMap,
    scalar,
    select::{Matcher, select},
    transform::{Scene, namespace},
};

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// Which resources; none means all.
    pub(crate) selector: Option<&'a Selector>,
    /// Keys, separated by slashes; elements of sequences as `0`, `-` or `[key=value]`.
    pub(crate) field_path: &'a str,
    /// Before which part of a value that is a path, from 1; 0 replaces the value.
    pub(crate) position: i64,
}

impl Target<'_> {
    /// What kustomize says about a target before anything is changed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.field_path.is_empty() {
            return Err(Error::new("fieldPath cannot be empty"));
        }
        if self.position < 0 {
            return Err(Error::new(format!(
                "value of FilePathPosition ({}) cannot be negative",
                self.position
            )));
        }
        Ok(())
    }
}

pub(crate) fn transform(
    resources: &mut ResMap,
    value: &Text,
    target: Target<'_>,
    scene: &Scene<'_>,
) -> Result<()> {
    let chosen: Vec<usize> = match target.selector {
        Some(selector) => select(resources, &Matcher::new(selector)?, scene.schema)?,
        None => (0..resources.len()).collect(),
    };
    let parts = split(target.field_path);
    let list = resources.resources_mut();
    for index in chosen {
        let Some(resource) = list.get_mut(index) else { continue };
        if target.field_path == "metadata/namespace" {
            namespace::set(resource, value, scene)?;
            continue;
        }
        if let Some(node) = find_or_make(resource.node_mut(), &parts)? {
            let text = match usize::try_from(target.position) {
                Ok(position) if position > 0 => {
                    insert_part(scalar::text(node), position - 1, value)
                }
                _ => value.to_string(),
            };
            scalar::set_untagged(node, text.into())?;
        }
        resource.settle_links();
    }
    Ok(())
}

/// Splits at slashes; a backslash before a slash keeps it. Empty parts count for nothing.
fn split(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split('/') {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The node at the path, made if need be; none below a null or past the end of a sequence.
fn find_or_make<'n>(node: &'n mut Node, parts: &[String]) -> Result<Option<&'n mut Node>> {
    let mut node = node;
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        if node.is_null() {
            return Ok(None);
        }
        let is_condition = |part: &str| part.starts_with('[') && part.ends_with(']');
        let found = if part == "*" {
            return Err(Error::new("wildcard is not supported in PathGetter"));
        } else if part == "-" {
            elements(node)?.last_mut()
        } else if let Ok(index) = part.parse::<i64>() {
            let index = usize::try_from(index)
                .map_err(|_| Error::new(format!("array index {index} cannot be negative")))?;
            elements(node)?.get_mut(index)
        } else if is_condition(part) {
            Some(element(elements(node)?, part)?)
        } else {
            let make = match parts.peek() {
                None => Node::string(""),
                Some(next) if is_condition(next) || next.parse::<u64>().is_ok() => {
                    Node::seq(Vec::new())
                }
                Some(_) => Node::map(),
            };
            Some(field(node, part, make)?)
        };
        match found {
            Some(found) => node = found,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

fn elements(node: &mut Node) -> Result<&mut Vec<Node>> {
    if !node.is_seq() {
        return Err(wrong_kind("SequenceNode", node));
    }
    node.as_seq_mut().ok_or_else(|| Error::new("expected a sequence"))
}

fn field<'n>(node: &'n mut Node, key: &str, make: Node) -> Result<&'n mut Node> {
    if !node.is_map() {
        return Err(wrong_kind("MappingNode", node));
    }
    let map = node.as_map_mut().ok_or_else(|| Error::new("expected a mapping"))?;
    if !map.contains(key) {
        map.push(Entry::new(key, make));
    }
    map.get_mut(key).ok_or_else(|| Error::new("expected a field"))
}

/// The first element for which `[key=value]` holds, made if there is none. Without a key the element
/// itself is the value.
fn element<'n>(items: &'n mut Vec<Node>, condition: &str) -> Result<&'n mut Node> {
    let inner = condition.trim_start_matches('[').trim_end_matches(']');
    let Some((key, value)) = inner.split_once('=') else {
        return Err(Error::new(
            "list path element must contain fieldName=fieldValue for element to match",
        ));
    };
    let holds = |item: &Node| match &item.value {
        Value::Scalar(scalar) => key.is_empty() && scalar.text == *value,
        _ => item.get(key).and_then(Node::as_str) == Some(value),
    };
    let index = items.iter().position(holds).unwrap_or_else(|| {
        let scalar = Node::scalar(value, flumen_yaml::resolve(value));
        let mut item = Node::map();
        match item.as_map_mut() {
            Some(map) if !key.is_empty() => map.push(Entry::new(key, scalar)),
            _ => item = scalar,
        }
        items.push(item);
        items.len() - 1
    });
    items.get_mut(index).ok_or_else(|| Error::new("expected an element"))
}

/// Inserts a part into a path and cleans it. Positions beyond the end append; a leading slash stays.
fn insert_part(path: &str, position: usize, part: &str) -> String {
    let (root, relative) = match path.strip_prefix('/') {
        Some(relative) => ("/", relative),
        None => ("", path),
    };
    let mut parts: Vec<&str> = match relative {
        "" => Vec::new(),
        _ => relative.split('/').collect(),
    };
    parts.insert(position.min(parts.len()), part);
    let path = format!("{root}{}", parts.join("/"));
    clean(Path::new(&path)).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Target, insert_part, transform};
    use crate::{kustomization::fields::Selector, transform::stage::transformed};

    #[track_caller]
    fn check(input: &str, field_path: &str, position: i64, expected: &str) {
        let selector = Selector { kind: "W".into(), ..Selector::default() };
        let target = Target { selector: Some(&selector), field_path, position };
        let actual = transformed(input, |resources, scene| {
            target.check()?;
            transform(resources, &"8".into(), target, scene)
        });
        assert_eq!(actual, expected);
    }

    #[test]
    fn parts_are_inserted_into_paths() {
        for (path, position, expected) in [
            ("", 0, "P"),
            ("/", 5, "/P"),
            ("pie", 0, "P/pie"),
            ("/pie", 0, "/P/pie"),
            ("raw", 1, "raw/P"),
            ("/raw", 9, "/raw/P"),
            ("a/nice/warm/pie", 3, "a/nice/warm/P/pie"),
            ("/a/nice/warm/pie", 3, "/a/nice/warm/P/pie"),
            ("a//b/../c/", 1, "a/P/c"),
            ("../x", 0, "x"),
        ] {
            assert_eq!(insert_part(path, position, "P"), expected, "{path} {position}");
        }
    }

    #[test]
    fn fields_are_made_and_selected() {
        let both = "kind: W\n---\nkind: V\n";
        check(both, "a/b\\/c", 0, "a:\n  b/c: 8\nkind: W\n---\nkind: V\n");
        check(
            both,
            "metadata/namespace",
            0,
            "kind: W\nmetadata:\n  namespace: \"8\"\n---\nkind: V\n",
        );
        check("kind: W\nl: [x, y]\n", "l/1", 1, "kind: W\nl:\n- x\n- 8/y\n");
        check("kind: W\n", "l/[n=x]/v", 0, "kind: W\nl:\n- \"n\": x\n  v: 8\n");
        check("kind: W\na: null\n", "a/b", 0, "a: null\nkind: W\n");
    }

    #[test]
    fn what_is_no_field_is_refused() {
        check("kind: W\n", "", 0, "error: fieldPath cannot be empty\n");
        check("kind: W\n", "a", -1, "error: value of FilePathPosition (-1) cannot be negative\n");
        check(
            "kind: W\n",
            "kind/x",
            0,
            "error: wrong node kind: expected MappingNode but got ScalarNode\n",
        );
    }
}
