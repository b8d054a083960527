//! Fields of a mapping by type. The error is the place of a value that has another type.

use std::collections::BTreeMap;

use flumen_yaml::{Map, Node, Pos, Scalar, Style, Tag};

/// A mapping. Null counts as absent everywhere.
#[derive(Clone, Copy)]
pub(in crate::connect) struct Fields<'a> {
    map: &'a Map,
    pos: Pos,
}

impl<'a> Fields<'a> {
    pub(in crate::connect) fn of(node: &'a Node) -> Result<Self, Pos> {
        node.as_map().map(|map| Self { map, pos: node.pos }).ok_or(node.pos)
    }

    /// Where the mapping starts.
    pub(in crate::connect) const fn pos(&self) -> Pos {
        self.pos
    }

    pub(in crate::connect) fn pos_of(&self, key: &str) -> Pos {
        self.map.get(key).map_or(self.pos, |node| node.pos)
    }

    pub(in crate::connect) fn node(&self, key: &str) -> Option<&'a Node> {
        self.map.get(key).filter(|node| !node.is_null())
    }

    /// A string, or any other scalar as it was written.
    pub(in crate::connect) fn scalar(&self, key: &str) -> Result<Option<String>, Pos> {
        self.node(key).map(scalar).transpose()
    }

    /// Like [`Self::scalar`]; an empty one counts as absent.
    pub(in crate::connect) fn text(&self, key: &str) -> Result<Option<String>, Pos> {
        Ok(self.scalar(key)?.filter(|text| !text.is_empty()))
    }

    /// Refuses any value but this one. It may be absent.
    pub(in crate::connect) fn expect(&self, key: &str, value: &str) -> Result<(), Pos> {
        match self.text(key)? {
            Some(text) if text != value => Err(self.pos_of(key)),
            _ => Ok(()),
        }
    }

    /// A boolean as YAML 1.1 writes them; false when absent.
    pub(in crate::connect) fn flag(&self, key: &str) -> Result<bool, Pos> {
        let Some(node) = self.node(key) else { return Ok(false) };
        match &node.as_scalar() {
            Some(Scalar { text, tag: Tag::Bool, .. }) => Ok(text.eq_ignore_ascii_case("true")),
            Some(Scalar { text, style: Style::Plain, .. }) => {
                let is = |words: [&str; 3]| words.iter().any(|it| text.eq_ignore_ascii_case(it));
                match (is(["yes", "on", "y"]), is(["no", "off", "n"])) {
                    (true, _) => Ok(true),
                    (_, true) => Ok(false),
                    _ => Err(node.pos),
                }
            }
            _ => Err(node.pos),
        }
    }

    pub(in crate::connect) fn fields(&self, key: &str) -> Result<Option<Self>, Pos> {
        self.node(key).map(Self::of).transpose()
    }

    pub(in crate::connect) fn list<T>(
        &self,
        key: &str,
        read: impl Fn(&'a Node) -> Result<T, Pos>,
    ) -> Result<Vec<T>, Pos> {
        self.node(key).map_or_else(|| Ok(Vec::new()), |node| list(node, read))
    }

    pub(in crate::connect) fn texts(&self, key: &str) -> Result<Vec<String>, Pos> {
        self.list(key, scalar)
    }

    /// All fields, if each is a list of strings.
    pub(in crate::connect) fn lists(&self) -> Result<BTreeMap<String, Vec<String>>, Pos> {
        let fields = self.map.iter().filter(|entry| !entry.value.is_null());
        fields.map(|entry| Ok((entry.key.to_string(), list(&entry.value, scalar)?))).collect()
    }
}

fn list<'a, T>(node: &'a Node, read: impl Fn(&'a Node) -> Result<T, Pos>) -> Result<Vec<T>, Pos> {
    node.as_seq().ok_or(node.pos)?.iter().map(read).collect()
}

fn scalar(node: &Node) -> Result<String, Pos> {
    match node.as_scalar() {
        Some(scalar) if scalar.tag != Tag::Null => Ok(scalar.text.to_string()),
        _ => Err(node.pos),
    }
}
