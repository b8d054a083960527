//! A kustomization file as kustomize's own types print it.
//!
//! Flux reads the file into those types, changes some fields, and writes it back. What the types do not
//! know disappears on the way, as does what is empty; comments and spellings do too.

mod records;

use std::path::Path;

use flumen_yaml::{Budget, Entry, Map, Node, Pos, Tag, Value as Tree, as_yaml_1_1};

use self::records::KUSTOMIZATION;
use super::{API_VERSION, KIND};
use crate::{
    decode::{
        Mode, Result, Value, WHILE_DECODING, decode,
        readers::{boolean, integer, list, object, pairs, string_type},
    },
    error::{Context, Error},
};

/// Reads a kustomization file and gives what is left of it, with `apiVersion` and `kind`.
///
/// Unlike a build, this passes over unknown fields and takes numbers for texts.
pub fn typed_kustomization(bytes: &[u8], file: &Path) -> crate::error::Result<Node> {
    let node = flumen_yaml::decode(bytes)
        .and_then(|text| flumen_yaml::read_lenient(&text, 1, &Budget::default()))
        .map_err(|error| Error::new(error.to_v2_string()).at(file, error.pos()))
        .within(|| "error converting YAML to JSON")?
        .unwrap_or_else(Node::null);
    let mut fields = if node.is_null() {
        Map::new()
    } else {
        decode(&node, file, Mode::AUXILIARY, |value| KUSTOMIZATION.print(value))
            .within(|| WHILE_DECODING)?
    };
    for (key, default) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if !fields.contains(key) && node.get(key).is_none_or(Node::is_null) {
            fields.set(key, Node::string(default));
        }
    }
    Ok(Node::new(Pos::default(), Tree::Map(fields)))
}

/// A Go struct: its fields, with those of embedded ones, and what they hold.
#[derive(Debug)]
struct Record {
    name: &'static str,
    fields: &'static [&'static str],
    shapes: &'static [(Presence, Shape)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Printed unless it is empty.
    Filled,
    /// Printed even if nothing was given.
    Always,
}

/// What a field holds. Names are those of Go, for messages.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Text(&'static str),
    Bool,
    Integer(&'static str),
    Texts(&'static str),
    Pairs,
    /// Any mapping.
    Object,
    Struct(&'static Record),
    Pointer(&'static Record),
    TextPointer,
    Structs(&'static Record),
    Pointers(&'static str, &'static Record),
}

impl Record {
    fn print(&'static self, value: Value<'_>) -> Result<Map> {
        let mut given: Vec<Option<Node>> = vec![None; self.fields.len()];
        for field in value.fields(self.name, self.fields)? {
            let place = self.fields.iter().position(|name| *name == field.name());
            let Some((_, shape)) = place.and_then(|place| self.shapes.get(place)) else { continue };
            let node = field.read(|value| shape.print(value))?;
            if let Some(old) = place.and_then(|place| given.get_mut(place)) {
                *old = Some(node);
            }
        }
        Ok(self.collect(given))
    }

    /// The fields that are printed, of those that were given.
    fn collect(&'static self, given: Vec<Option<Node>>) -> Map {
        let mut map = Map::new();
        for ((name, (presence, shape)), node) in self.fields.iter().zip(self.shapes).zip(given) {
            let node = match (node, presence) {
                (Some(node), Presence::Filled) if shape.is_empty(&node) => continue,
                (Some(node), _) => node,
                (None, Presence::Always) => shape.zero(),
                (None, Presence::Filled) => continue,
            };
            let key = name.rsplit_once('.').map_or(*name, |(_, key)| key);
            map.push(Entry::new(key, node));
        }
        map
    }
}

impl Shape {
    fn print(&self, value: Value<'_>) -> Result<Node> {
        match *self {
            Self::Text(name) => string_type(name)(value).map(Node::string),
            Self::TextPointer => string_type("string")(value).map(Node::string),
            Self::Bool => boolean(value).map(bool_node),
            Self::Integer(name) => {
                integer(name)(value).map(|number| Node::scalar(number.to_string(), Tag::Int))
            }
            Self::Texts(name) => {
                let texts = list(name, string_type(name))(value)?;
                Ok(Node::seq(texts.into_iter().map(Node::string).collect()))
            }
            Self::Pairs => {
                let pairs = pairs(value)?.into_iter();
                Ok(map_node(pairs.map(|(key, text)| Entry::new(key, Node::string(text))).collect()))
            }
            Self::Object => {
                object(value)?;
                let mut node = value.node().clone();
                as_yaml_1_1(&mut node);
                Ok(node)
            }
            Self::Struct(record) | Self::Pointer(record) => record.print(value).map(map_node),
            Self::Structs(record) => items(value, record.name, record, Self::Struct(record)),
            Self::Pointers(name, record) => items(value, name, record, Self::Pointer(record)),
        }
    }

    /// What is printed where nothing was given.
    fn zero(self) -> Node {
        match self {
            Self::Text(_) => Node::string(""),
            Self::Bool => bool_node(false),
            Self::Integer(_) => Node::scalar("0", Tag::Int),
            Self::Struct(record) => map_node(record.collect(vec![None; record.fields.len()])),
            _ => Node::null(),
        }
    }

    /// Whether `omitempty` leaves the value out. Structs and pointers that were given stay.
    fn is_empty(self, node: &Node) -> bool {
        match self {
            Self::Text(_) => node.as_str() == Some(""),
            Self::Bool => node.as_str() == Some("false"),
            Self::Integer(_) => node.as_str() == Some("0"),
            Self::Struct(_) | Self::Pointer(_) | Self::TextPointer => false,
            _ => node.is_nil_or_empty(),
        }
    }
}

fn items(
    value: Value<'_>,
    name: &'static str,
    record: &'static Record,
    item: Shape,
) -> Result<Node> {
    let read = |value: Value<'_>| record.print(value).map(Some);
    let items = list(name, read)(value)?.into_iter();
    Ok(Node::seq(items.map(|fields| fields.map_or_else(|| item.zero(), map_node)).collect()))
}

fn map_node(map: Map) -> Node {
    Node::new(Pos::default(), Tree::Map(map))
}

fn bool_node(value: bool) -> Node {
    Node::scalar(if value { "true" } else { "false" }, Tag::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        let shown = match typed_kustomization(file.as_bytes(), Path::new("kustomization.yaml")) {
            Ok(node) => {
                let mut text = Vec::new();
                flumen_yaml::emit(&node, &mut text).expect("printable");
                let text = String::from_utf8(text).expect("UTF-8");
                let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
                let mut lines: Vec<_> = text.lines().collect();
                lines.retain(|line| !head.lines().any(|known| known == *line));
                lines.join("\n")
            }
            Err(error) => format!("! {error}"),
        };
        assert_eq!(shown, expected.trim_end(), "{file}");
    }

    #[test]
    fn what_is_empty_or_unknown_disappears() {
        check("", "");
        check("# nothing\n", "");
        check("nonsense: 1\nnamePrefix: ''\nresources: []\nlabels: null\ncommonLabels: {}\n", "");
        check("labels: [{includeSelectors: false}]\n", "labels:\n- {}");
        check(
            "metadata: {}\ngeneratorOptions: {immutable: no}\n",
            "generatorOptions: {}\nmetadata: {}",
        );
    }

    #[test]
    fn spellings_become_one() {
        check(
            "NAMEPREFIX: a-\nimages: [{newTag: 1.10}]\n",
            "images:\n- newTag: \"1.1\"\nnamePrefix: a-",
        );
        check("commonLabels: {a: yes, b: 0x10}\n", "commonLabels:\n  a: \"true\"\n  b: \"16\"");
        check("resources: [a, null]\n", "resources:\n- a\n- \"\"");
    }

    #[test]
    fn some_fields_are_always_printed() {
        check("replicas: [{name: a}]\n", "replicas:\n- count: 0\n  name: a");
        check(
            "vars: [{name: A}, null]\n",
            "vars:\n- fieldref: {}\n  name: A\n  objref:\n    name: \"\"\n- fieldref: {}\n  name: \"\"\n  \
             objref:\n    name: \"\"",
        );
        check(
            "replacements: [{targets: [{fieldPaths: [a]}, null]}]\n",
            "replacements:\n- targets:\n  - fieldPaths:\n    - a\n    select: null\n  - null",
        );
        check(
            "sortOptions: {order: legacy, legacySortOptions: {orderFirst: []}}\n",
            "sortOptions:\n  legacySortOptions:\n    orderFirst: []\n    orderLast: null\n  order: legacy",
        );
    }

    #[test]
    fn the_kind_is_kept() {
        let text = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
        check(text, text);
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_go() {
        check(
            "resources: a\n",
            "! error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct \
             field Kustomization.resources of type []string",
        );
        check(
            "a: [\n",
            "! error converting YAML to JSON: yaml: line 1: did not find expected node content",
        );
    }
}
