//! Keys that stand in a text without quotes.
//!
//! A tree has keys as texts only, since in nearly all places every key counts as a string. Where
//! `yes: 1` is not `"yes": 1`, the text must be read once more.

use std::collections::HashSet;

use flumen_yaml::{Budget, EventKind, Node, Pos, Style, Text, Value, events};

/// Whether any key of a tree is one of those asked for, quoted or not.
pub(crate) fn has_key(node: &Node, is_wanted: fn(&str) -> bool) -> bool {
    match &node.value {
        Value::Map(map) => {
            map.iter().any(|entry| is_wanted(&entry.key) || has_key(&entry.value, is_wanted))
        }
        Value::Seq(items) => items.iter().any(|item| has_key(item, is_wanted)),
        Value::Scalar(_) => false,
    }
}

/// The places of the plain keys among those asked for, in a text that begins at `first_line`.
pub(crate) fn find(text: &Text, first_line: u32, is_wanted: fn(&str) -> bool) -> HashSet<Pos> {
    let mut found = HashSet::new();
    let Ok(events) = events(text, &Budget::default()) else { return found };
    // For each open mapping or list whether a key is next.
    let mut open: Vec<Option<bool>> = Vec::new();
    for event in events.map_while(Result::ok) {
        let is_key = open.last() == Some(&Some(true));
        match event.kind {
            EventKind::Scalar { value, style: Style::Plain, properties }
                if is_key && properties.is_none() && is_wanted(&value) =>
            {
                let line = event.pos.line.saturating_add(first_line.saturating_sub(1));
                found.insert(Pos::new(line, event.pos.column));
            }
            EventKind::MappingStart { .. } => {
                open.push(Some(true));
                continue;
            }
            EventKind::SequenceStart { .. } => {
                open.push(None);
                continue;
            }
            EventKind::MappingEnd | EventKind::SequenceEnd => drop(open.pop()),
            _ => {}
        }
        // A node is complete: in a mapping, keys and values take turns.
        if let Some(Some(key_is_next)) = open.last_mut() {
            *key_is_next = !*key_is_next;
        }
    }
    found
}
