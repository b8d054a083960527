//! What may be a key, and that it stands only once.

use std::collections::HashMap;

use crate::{Entry, Error, Pos, Scalar, Style, Tag};

/// Mappings up to this size are searched, larger ones get a table.
const SMALL: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// A key of any type counts as its text.
    AnyScalar,
    /// The same, and a key may stand more than once; all its entries are in the tree.
    Repeatable,
    /// Keys must be strings, because the tree becomes JSON. Only the outermost mapping may have
    /// numbers and booleans, which kustomize reads as strings there.
    Strings,
}

impl Keys {
    /// Checks a key of a mapping at `depth`, 1 for the outermost.
    #[inline]
    pub(super) fn check(self, key: &Scalar, pos: Pos, depth: usize) -> Result<(), Error> {
        let fits = match key.tag {
            Tag::Str | Tag::Merge | Tag::Binary => true,
            Tag::Null => self != Self::Strings,
            _ => self != Self::Strings || depth == 1,
        };
        if fits { Ok(()) } else { Err(not_a_string(key, pos)) }
    }

    /// Refuses entries with equal keys.
    #[inline]
    pub(super) fn check_unique(self, entries: &[Entry]) -> Result<(), Error> {
        if self == Self::Repeatable { Ok(()) } else { check_unique(entries) }
    }
}

#[cold]
fn not_a_string(key: &Scalar, pos: Pos) -> Error {
    let kind = match key.tag {
        Tag::Null => "null",
        Tag::Bool => "a boolean",
        Tag::Timestamp => "a date",
        _ => "a number",
    };
    let text = match (key.text.as_str(), key.style) {
        ("", Style::Plain) => "an empty mapping key".to_owned(),
        (text, _) => format!("mapping key {text}"),
    };
    Error::new(format!("{text} has an unsupported type: it is {kind}, quote it"), pos)
}

#[cold]
pub(super) fn not_a_scalar(pos: Pos) -> Error {
    Error::new("invalid map key: a mapping or a sequence cannot be a key", pos)
}

#[inline]
fn check_unique(entries: &[Entry]) -> Result<(), Error> {
    if entries.len() > SMALL {
        return check_unique_by_table(entries);
    }
    // Most keys differ in a few cheap facts; those that do not are compared.
    let mut seen = 0_u64;
    for (index, entry) in entries.iter().enumerate() {
        let bit = 1 << fingerprint(entry.key.as_bytes());
        if seen & bit != 0
            && let Some(first) = entries[..index].iter().find(|first| first.key == entry.key)
        {
            return Err(duplicate(first, entry));
        }
        seen |= bit;
    }
    Ok(())
}

/// A number below 64.
fn fingerprint(key: &[u8]) -> u32 {
    let at = |index: usize| key.get(index).copied().map_or(0, u32::from);
    let sum = at(0) * 3 + at(key.len() / 2) * 7 + at(key.len().wrapping_sub(1)) * 11;
    (sum + u32::try_from(key.len() % 64).unwrap_or(0) * 5) % 64
}

fn check_unique_by_table(entries: &[Entry]) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(entries.len());
    for entry in entries {
        if let Some(first) = seen.insert(entry.key.as_str(), entry) {
            return Err(duplicate(first, entry));
        }
    }
    Ok(())
}

#[cold]
fn duplicate(first: &Entry, second: &Entry) -> Error {
    let line = first.key_pos.line;
    let problem = format!("mapping key {:?} already defined at line {line}", second.key);
    Error::new(problem, second.key_pos)
        .with_quoted_line(second.key_pos.line)
        .with_related(first.key_pos)
}
