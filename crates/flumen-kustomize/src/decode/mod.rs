//! Typed reading of a YAML tree, with the rules of Go's JSON decoder.
//!
//! kustomize reads its own files by turning YAML into JSON and JSON into Go structs. What it accepts
//! is therefore what that decoder accepts: field names match in any case, null means "not given",
//! a number is not a string. Messages have its words, because people search for them, and in
//! addition the place of the mistake.
//!
//! A record is read by a table, see [`fields!`]; the functions of [`readers`] are its vocabulary.

mod number;
mod problem;
pub(crate) mod readers;

use std::path::Path;

use flumen_yaml::{Budget, Node, Pos, Scalar, Style, Tag, Text, Value as Tree};

pub(crate) use self::problem::{Found, Problem};
use crate::{
    content::Content,
    error::{Context, Error},
    loader::File,
};

pub(crate) type Result<T> = std::result::Result<T, Problem>;

/// How strictly a kind of file is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Whether a field that the record does not have is an error.
    unknown_fields: Unknown,
    /// Whether numbers and booleans are taken where a string is wanted.
    scalars_as_strings: bool,
    /// Whether plain `yes`, `no`, `on` and `off` are booleans, as they were in YAML 1.1.
    old_booleans: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unknown {
    Refused,
    Ignored,
}

impl Mode {
    /// Kustomization files.
    pub(crate) const KUSTOMIZATION: Self =
        Self { unknown_fields: Unknown::Refused, scalars_as_strings: false, old_booleans: true };
    /// Files named in `configurations`.
    pub(crate) const CONFIGURATION: Self =
        Self { unknown_fields: Unknown::Refused, scalars_as_strings: true, old_booleans: true };
    /// Files that a field or a plugin names, such as replacements.
    pub(crate) const AUXILIARY: Self =
        Self { unknown_fields: Unknown::Ignored, scalars_as_strings: true, old_booleans: true };
    /// Plugin configurations, which have been read as resources before.
    pub(crate) const PLUGIN: Self =
        Self { unknown_fields: Unknown::Ignored, scalars_as_strings: true, old_booleans: false };
}

/// Reads a whole tree with one of the readers; mistakes are located in `file`.
pub(crate) fn decode<T>(
    node: &Node,
    file: &Path,
    mode: Mode,
    read: impl FnOnce(Value<'_>) -> Result<T>,
) -> crate::error::Result<T> {
    read(Value { node, mode }).map_err(|problem| problem.into_error(file))
}

/// Reads a file that a kustomization names for its settings. An empty one has the defaults.
pub(crate) fn decode_file<T: Default>(
    file: &File,
    mode: Mode,
    read: impl FnOnce(Value<'_>) -> Result<T>,
) -> crate::error::Result<T> {
    let node =
        first_document(&file.content, &file.path).within(|| "error converting YAML to JSON")?;
    if node.is_null() {
        return Ok(T::default());
    }
    decode(&node, &file.path, mode, read).within(|| WHILE_DECODING)
}

pub(crate) const WHILE_DECODING: &str = "error unmarshaling JSON: while decoding JSON";

/// The first document of a file, null if it has none. The others are not looked at.
pub(crate) fn first_document(content: &Content, file: &Path) -> crate::error::Result<Node> {
    content
        .decode()
        .and_then(|text| flumen_yaml::read_lenient(&text, 1, &Budget::default()))
        .map(|node| node.unwrap_or_else(Node::null))
        .map_err(|error| Error::new(error.to_string()).at(file, error.pos()))
}

/// A node that is about to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    node: &'a Node,
    mode: Mode,
}

impl<'a> Value<'a> {
    pub(crate) const fn node(self) -> &'a Node {
        self.node
    }

    pub(crate) const fn pos(self) -> Pos {
        self.node.pos
    }

    pub(crate) fn is_null(self) -> bool {
        self.node.is_null()
    }

    /// What JSON would call it.
    pub(crate) fn found(self) -> Found {
        match &self.node.value {
            Tree::Seq(_) => Found::Array,
            Tree::Map(_) => Found::Object,
            Tree::Scalar(scalar) => match scalar.tag {
                Tag::Null => Found::Null,
                Tag::Bool => Found::Bool,
                Tag::Int | Tag::Float => Found::Number,
                Tag::Str if self.mode.old_booleans && old_boolean(scalar).is_some() => Found::Bool,
                _ => Found::String,
            },
        }
    }

    pub(crate) fn mismatch(self, wanted: impl Into<String>) -> Problem {
        Problem::mismatch(self.found(), wanted.into(), self.pos())
    }

    /// The entries of a mapping that is no record; `wanted` is what Go calls it.
    pub(crate) fn entries(
        self,
        wanted: &'static str,
    ) -> Result<impl Iterator<Item = (&'a Text, Self)>> {
        let map = self.node.as_map().ok_or_else(|| self.mismatch(wanted))?;
        Ok(map.iter().map(move |entry| (&entry.key, self.with(&entry.value))))
    }

    const fn with(self, node: &'a Node) -> Self {
        Self { node, ..self }
    }

    /// The given fields of a record in the order in which Go meets them, which is that of the bytes
    /// of their keys. Of a key that is written twice only the last counts; null counts as absent.
    ///
    /// A name in `names` may have the names of embedded records before it, separated by dots: they
    /// show in messages and are no part of the key.
    pub(crate) fn fields(
        self,
        record: &'static str,
        names: &'static [&'static str],
    ) -> Result<Vec<Field<'a>>> {
        let Some(map) = self.node.as_map() else {
            return Err(self.mismatch(record));
        };
        let mut entries: Vec<_> = map.iter().collect();
        // The sort is stable, so the last of several equal keys is the last in the file.
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        let mut fields: Vec<Field<'a>> = Vec::with_capacity(entries.len());
        let mut given: Vec<Option<&Node>> = vec![None; names.len()];
        for (index, entry) in entries.iter().enumerate() {
            if entries.get(index + 1).is_some_and(|next| next.key == entry.key) {
                continue;
            }
            match find_name(names, &entry.key) {
                Some((place, name)) if !entry.value.is_null() => {
                    // Go lets the last spelling win, except that it fills mappings twice.
                    let before = given.get_mut(place).and_then(|old| old.replace(&entry.value));
                    if before.is_some_and(|old| has_mapping(old) || has_mapping(&entry.value)) {
                        let key = key_of(name);
                        let message = format!("`{key}` is given in two spellings");
                        return Err(Problem::new(message, entry.key_pos));
                    }
                    fields.push(Field { record, name, value: self.with(&entry.value) });
                }
                None if self.mode.unknown_fields == Unknown::Refused => {
                    return Err(Problem::unknown(&entry.key, entry.key_pos, names));
                }
                _ => {}
            }
        }
        Ok(fields)
    }
}

/// A field of a record that was given a value.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    record: &'static str,
    name: &'static str,
    value: Value<'a>,
}

impl<'a> Field<'a> {
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The name as it is written in files.
    pub(crate) fn key(&self) -> &'static str {
        key_of(self.name)
    }

    /// Reads the value; a mistake in it is reported with the name of the field.
    pub(crate) fn read<T>(&self, read: impl FnOnce(Value<'a>) -> Result<T>) -> Result<T> {
        let mut value = self.value;
        if self.name.contains('.') {
            // Go's reader of YAML does not look into embedded records for strings.
            value.mode.scalars_as_strings = false;
        }
        read(value).map_err(|problem| problem.inside(self.record, self.name))
    }
}

/// Reads the fields of a record:
///
/// ```text
/// fields!(value, "types.Image", {
///     "name": string => image.name,
///     "newTag": string => image.new_tag,
/// });
/// ```
macro_rules! fields {
    ($value:expr, $record:literal, { $($name:literal: $read:expr => $place:expr),+ $(,)? }) => {
        for field in $value.fields($record, &[$($name),+])? {
            match field.name() {
                $($name => $place = field.read($read)?,)+
                _ => {}
            }
        }
    };
}
pub(crate) use fields;

/// The field that Go would choose: the same name, else one that differs in case only.
fn find_name(names: &'static [&'static str], key: &str) -> Option<(usize, &'static str)> {
    let names = || names.iter().copied().enumerate();
    let same = names().find(|(_, name)| key_of(name) == key);
    same.or_else(|| names().find(|(_, name)| is_same_folded(key_of(name), key)))
}

/// Whether a value is a mapping or a list with one in it.
fn has_mapping(node: &Node) -> bool {
    node.is_map() || node.as_seq().is_some_and(|items| items.iter().any(Node::is_map))
}

/// The key of a field that may be one of an embedded record.
fn key_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, key)| key)
}

/// Whether two keys differ in case only. Field names are ASCII; two letters beyond it fold to one.
pub(crate) fn is_same_folded(name: &str, key: &str) -> bool {
    let fold = |letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(key.chars().map(fold))
}

fn old_boolean(scalar: &Scalar) -> Option<bool> {
    if scalar.style != Style::Plain {
        return None;
    }
    match scalar.text.as_str() {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}
