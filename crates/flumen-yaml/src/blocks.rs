//! The same values as YAML that programs exchange: blocks, and within them strings as JSON has them.
//!
//! Readers made for YAML take JSON too, but braces and quoted keys cost them most. The strings stay quoted, so that
//! every value is read as what it is, whatever the rules of YAML make of words and line breaks.

use crate::{
    EmitError, Map, Node, Value,
    emit::{Failure, is_plain_key, scan},
    json::{Escapes, push_scalar, push_string},
};

/// The value of `node` for a program that reads YAML; what JSON cannot say is an error.
pub fn to_blocks(node: &Node) -> Result<String, EmitError> {
    let mut out = Vec::new();
    block(&mut out, node, 0, Cursor::Line)?;
    Ok(String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// What stands before a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cursor {
    /// Nothing in its line.
    Line,
    /// The key that it belongs to.
    Key,
    /// The dash of its item, and a space.
    Dash,
}

fn block(out: &mut Vec<u8>, node: &Node, indent: usize, at: Cursor) -> Result<(), Failure> {
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => map(out, entries, indent, at),
        Value::Seq(items) if !items.is_empty() => seq(out, items, indent, at),
        leaf => {
            if at == Cursor::Key {
                out.push(b' ');
            }
            match leaf {
                Value::Map(_) => out.extend_from_slice(b"{}"),
                Value::Seq(_) => out.extend_from_slice(b"[]"),
                Value::Scalar(scalar) => {
                    push_scalar(out, scalar, Escapes::Yaml)
                        .map_err(|reason| Failure::new(node.pos, reason))?;
                }
            }
            out.push(b'\n');
            Ok(())
        }
    }
}

fn map(out: &mut Vec<u8>, map: &Map, indent: usize, at: Cursor) -> Result<(), Failure> {
    begin(out, at);
    for (position, entry) in map.iter().enumerate() {
        pad(out, indent, position, at);
        if is_plain_key(&entry.key, scan(&entry.key)) {
            out.extend_from_slice(entry.key.as_bytes());
        } else {
            push_string(out, &entry.key, Escapes::Yaml);
        }
        out.push(b':');
        block(out, &entry.value, indent + 1, Cursor::Key)
            .map_err(|failure| failure.in_key(&entry.key))?;
    }
    Ok(())
}

fn seq(out: &mut Vec<u8>, items: &[Node], indent: usize, at: Cursor) -> Result<(), Failure> {
    begin(out, at);
    for (position, item) in items.iter().enumerate() {
        pad(out, indent, position, at);
        out.extend_from_slice(b"- ");
        block(out, item, indent + 2, Cursor::Dash).map_err(|failure| failure.in_index(position))?;
    }
    Ok(())
}

fn begin(out: &mut Vec<u8>, at: Cursor) {
    if at == Cursor::Key {
        out.push(b'\n');
    }
}

/// The first one behind a dash is where it belongs.
fn pad(out: &mut Vec<u8>, indent: usize, position: usize, at: Cursor) {
    if position > 0 || at != Cursor::Dash {
        out.extend(std::iter::repeat_n(b' ', indent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Entry, Pos, Tag, Text, read, to_json};

    fn map(entries: Vec<Entry>) -> Node {
        Node::new(Pos::default(), Value::Map(entries.into()))
    }

    #[test]
    fn structure_is_in_blocks_and_strings_are_quoted() {
        let deep = Node::seq(vec![
            Node::seq(vec![Node::scalar("1", Tag::Int), Node::null()]),
            map(vec![Entry::new("a", Node::map()), Entry::new("b", Node::seq(Vec::new()))]),
        ]);
        let node = map(vec![
            Entry::new("b", Node::string("no")),
            Entry::new("a/b.c", map(vec![Entry::new("x", Node::scalar("TRUE", Tag::Bool))])),
            Entry::new("list", deep),
        ]);
        let expected =
            "b: \"no\"\na/b.c:\n x: true\nlist:\n - - 1\n   - null\n - a: {}\n   b: []\n";
        assert_eq!(to_blocks(&node).as_deref(), Ok(expected));
    }

    #[test]
    fn every_value_is_read_as_what_it_is() {
        let words = "a y no On null ~ 1 0x1f 1_000 12:30 .5 - ? : a: # &a *a !t | > % @ ` ' \" \\ { [a] , = \
                     2001-01-01 --- ... é 日本 😀";
        let phrases = "|- a|? a|a: b|a #b| a |a\nb\n|\ta|\u{1}|\u{7f}|\u{85}x|a\u{a0}b|\u{2028}|\u{feff}|\u{ffff}";
        let odd: Vec<&str> = words.split(' ').chain(phrases.split('|')).collect();
        let strings = |wrap: fn(&str) -> Entry| map(odd.iter().map(|text| wrap(text)).collect());
        let node = map(vec![
            Entry::new("keys", strings(|text| Entry::new(text, Node::string("v")))),
            Entry::new("values", strings(|text| Entry::new(text, Node::string(text)))),
            Entry::new("list", Node::seq(odd.iter().map(|text| Node::string(*text)).collect())),
            Entry::new(
                "long",
                map(vec![Entry::new("k".repeat(300), Node::scalar("1e-7", Tag::Float))]),
            ),
        ]);
        let text = to_blocks(&node).expect("can be printed");
        let documents = read(&Text::from(text), 1, &Budget::default()).expect("is YAML");
        let [reread] = documents.as_slice() else { panic!("{documents:?}") };
        assert_eq!(to_json(reread), to_json(&node));
    }

    #[test]
    fn what_json_cannot_say_is_an_error() {
        let node = map(vec![Entry::new("a", Node::seq(vec![Node::scalar(".inf", Tag::Float)]))]);
        let error = to_blocks(&node).expect_err("infinity is no JSON");
        assert_eq!(error.to_string(), "`a[0]`: JSON has no number for +Inf");
    }
}
