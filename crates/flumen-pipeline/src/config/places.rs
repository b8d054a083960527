//! Where in a file each key stands, so that a rule can say where it was broken.

use std::{collections::BTreeMap, ops::Range};

use flumen_yaml::{Node, Pos, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The place of every key, by its path: `kustomize.path`, `dependencies[2]`.
#[derive(Debug, Default)]
pub(crate) struct Places {
    places: BTreeMap<String, Pos>,
}

impl Places {
    pub(super) fn of_toml(table: &DeTable<'_>, lines: &Lines<'_>) -> Self {
        let mut places = Self::default();
        places.add_table("", table, lines);
        places
    }

    pub(super) fn of_json(node: &Node) -> Self {
        let mut places = Self::default();
        places.add_node("", node);
        places
    }

    /// The place of a key, or of the nearest table around it that is written down.
    pub(crate) fn find(&self, path: &str) -> Pos {
        let mut path = path;
        loop {
            if let Some(pos) = self.places.get(path) {
                return *pos;
            }
            match path.rsplit_once(['.', '[']) {
                Some((outer, _)) => path = outer,
                None => return Pos::new(1, 1),
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Pos)> {
        self.places.iter().map(|(path, pos)| (path.as_str(), *pos))
    }

    fn add_table(&mut self, path: &str, table: &DeTable<'_>, lines: &Lines<'_>) {
        for (key, value) in table {
            let path = join(path, key.get_ref());
            self.places.insert(path.clone(), lines.place(key.span()));
            self.add_toml_value(&path, value, lines);
        }
    }

    fn add_toml_value(&mut self, path: &str, value: &Spanned<DeValue<'_>>, lines: &Lines<'_>) {
        match value.get_ref() {
            DeValue::Table(table) => self.add_table(path, table, lines),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.places.insert(path.clone(), lines.place(item.span()));
                    self.add_toml_value(&path, item, lines);
                }
            }
            _ => {}
        }
    }

    fn add_node(&mut self, path: &str, node: &Node) {
        match &node.value {
            Value::Map(map) => {
                for entry in map {
                    let path = join(path, &entry.key);
                    self.places.insert(path.clone(), entry.key_pos);
                    self.add_node(&path, &entry.value);
                }
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.places.insert(path.clone(), item.pos);
                    self.add_node(&path, item);
                }
            }
            Value::Scalar(_) => {}
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Turns offsets in a text into lines and columns.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    pub(super) fn place(&self, span: Range<usize>) -> Pos {
        let line = self.starts.partition_point(|start| *start <= span.start);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..span.start).unwrap_or_default();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Pos::new(number(line), number(before.chars().count() + 1))
    }
}
