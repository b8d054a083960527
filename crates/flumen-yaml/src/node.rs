//! The tree: scalars, sequences and mappings, in the order of the file, each with its place.
//!
//! Aliases are expanded and merge keys resolved before a tree exists, comments are gone. What is
//! kept beyond the values is what later steps need: the resolved tag of a scalar (a quoted `"1"` is
//! not the number `1`), its style, and positions for error messages.

use std::fmt;

use crate::Text;

/// A place in a file: line and column, both starting at 1. Zero means "not from a file".
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    pub const fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }

    /// Whether this names a real place, as opposed to a node made by a program.
    pub const fn is_known(self) -> bool {
        self.line != 0
    }
}

impl fmt::Debug for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    #[default]
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// What a scalar means, by its explicit tag or by the resolution rules of go-yaml v3.
///
/// Tags that are none of the standard ones make a scalar a string, as they do in go-yaml.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tag {
    Null,
    Bool,
    Int,
    Float,
    #[default]
    Str,
    Timestamp,
    Binary,
    /// The plain text `<<`.
    Merge,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub text: Text,
    pub tag: Tag,
    pub style: Style,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub pos: Pos,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Scalar),
    Seq(Vec<Node>),
    Map(Map),
}

impl Node {
    pub const fn new(pos: Pos, value: Value) -> Self {
        Self { pos, value }
    }

    /// A string, whatever it looks like.
    pub fn string(text: impl Into<Text>) -> Self {
        Self::scalar(text, Tag::Str)
    }

    /// A plain scalar with a known tag.
    pub fn scalar(text: impl Into<Text>, tag: Tag) -> Self {
        let scalar = Scalar { text: text.into(), tag, style: Style::Plain };
        Self::new(Pos::default(), Value::Scalar(scalar))
    }

    pub fn null() -> Self {
        Self::scalar(Text::literal("null"), Tag::Null)
    }

    pub const fn map() -> Self {
        Self::new(Pos { line: 0, column: 0 }, Value::Map(Map::new()))
    }

    pub const fn seq(items: Vec<Self>) -> Self {
        Self::new(Pos { line: 0, column: 0 }, Value::Seq(items))
    }

    /// The text of a scalar of any tag.
    pub fn text(&self) -> Option<&Text> {
        self.as_scalar().map(|scalar| &scalar.text)
    }

    /// The text of a scalar of any tag, borrowed.
    pub fn as_str(&self) -> Option<&str> {
        self.text().map(Text::as_str)
    }

    pub const fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub const fn as_scalar_mut(&mut self) -> Option<&mut Scalar> {
        match &mut self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub const fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub const fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub const fn as_seq(&self) -> Option<&Vec<Self>> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub const fn as_seq_mut(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub const fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    pub const fn is_seq(&self) -> bool {
        matches!(self.value, Value::Seq(_))
    }

    pub const fn is_scalar(&self) -> bool {
        matches!(self.value, Value::Scalar(_))
    }

    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(Scalar { tag: Tag::Null, .. }))
    }

    /// Null, or a mapping or sequence with nothing in it.
    pub fn is_nil_or_empty(&self) -> bool {
        match &self.value {
            Value::Scalar(scalar) => scalar.tag == Tag::Null,
            Value::Seq(items) => items.is_empty(),
            Value::Map(map) => map.is_empty(),
        }
    }

    /// The value of `key`, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        self.as_map_mut()?.get_mut(key)
    }

    /// The node below a chain of mapping keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, key| node.get_mut(key))
    }
}

/// A mapping in the order of the file.
///
/// Lookups walk the entries: Kubernetes mappings are short, and a hash table per mapping would cost
/// more than it saves. Whatever inserts many keys must not look each of them up first.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Text,
    pub key_pos: Pos,
    pub value: Node,
}

impl Entry {
    pub fn new(key: impl Into<Text>, value: Node) -> Self {
        Self { key: key.into(), key_pos: Pos::default(), value }
    }
}

impl Map {
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == *key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.value)
    }

    pub fn contains(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Replaces the value of `key` in place, or appends the key.
    pub fn set(&mut self, key: impl Into<Text> + AsRef<str>, value: Node) {
        match self.get_mut(key.as_ref()) {
            Some(old) => *old = value,
            None => self.push(Entry::new(key, value)),
        }
    }

    /// Appends an entry whose key is known to be new.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|entry| entry.key == *key)?;
        Some(self.entries.remove(index).value)
    }

    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Entry> {
        self.entries.iter_mut()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub const fn entries_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }
}

impl From<Vec<Entry>> for Map {
    fn from(entries: Vec<Entry>) -> Self {
        Self { entries }
    }
}

impl FromIterator<Entry> for Map {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = &'a mut Entry;
    type IntoIter = std::slice::IterMut<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = Entry;
    type IntoIter = std::vec::IntoIter<Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
