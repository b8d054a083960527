//! The same values as JSON: compact as Go's encoder prints it, or indented for people.

use crate::{
    Canonical, EmitError, Entry, Map, Node, Scalar, Tag, Unprintable, Value, canonical,
    emit::{Failure, Order, reread},
    number::push_json_float,
};

/// The value of `node` exactly as Go's `encoding/json` writes it: compact, keys sorted by bytes, and
/// with `<`, `>` and `&` escaped.
pub fn to_json(node: &Node) -> Result<String, EmitError> {
    let mut printer = Printer { out: Vec::new(), layout: Layout::Compact, order: Order::default() };
    printer.node(node, 0)?;
    Ok(printer.finish())
}

/// The value of `node` with one field a line, in the order in which the YAML output has them.
pub fn to_json_pretty(node: &Node) -> Result<String, EmitError> {
    let mut printer = Printer { out: Vec::new(), layout: Layout::Pretty, order: Order::default() };
    printer.node(node, 0)?;
    printer.out.push(b'\n');
    Ok(printer.finish())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Compact,
    Pretty,
}

impl Layout {
    const fn escapes(self) -> Escapes {
        match self {
            Self::Compact => Escapes::Html,
            Self::Pretty => Escapes::None,
        }
    }
}

struct Printer {
    out: Vec<u8>,
    layout: Layout,
    order: Order,
}

impl Printer {
    fn finish(self) -> String {
        String::from_utf8(self.out)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn node(&mut self, node: &Node, depth: usize) -> Result<(), Failure> {
        match &node.value {
            Value::Map(map) => self.map(map, depth),
            Value::Seq(items) => self.seq(items, depth),
            Value::Scalar(scalar) => push_scalar(&mut self.out, scalar, self.layout.escapes())
                .map_err(|reason| Failure::new(node.pos, reason)),
        }
    }

    fn map(&mut self, map: &Map, depth: usize) -> Result<(), Failure> {
        let entries = map.entries();
        self.out.push(b'{');
        match self.layout {
            Layout::Compact => {
                let mut sorted: Vec<&Entry> = entries.iter().collect();
                sorted.sort_by(|a, b| a.key.as_bytes().cmp(b.key.as_bytes()));
                for (position, entry) in sorted.into_iter().enumerate() {
                    self.entry(entry, position, depth)?;
                }
            }
            Layout::Pretty => {
                let sorted = self.order.push(entries);
                for position in 0..entries.len() {
                    let entry = entries.get(self.order.index(&sorted, position));
                    entry.map_or(Ok(()), |entry| self.entry(entry, position, depth))?;
                }
                self.order.pop(&sorted);
            }
        }
        self.close(b'}', entries.is_empty(), depth);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, position: usize, depth: usize) -> Result<(), Failure> {
        self.separate(position, depth + 1);
        push_string(&mut self.out, &entry.key, self.layout.escapes());
        self.out.extend_from_slice(if self.layout == Layout::Pretty { b": " } else { b":" });
        self.node(&entry.value, depth + 1).map_err(|failure| failure.in_key(&entry.key))
    }

    fn seq(&mut self, items: &[Node], depth: usize) -> Result<(), Failure> {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index, depth + 1);
            self.node(item, depth + 1).map_err(|failure| failure.in_index(index))?;
        }
        self.close(b']', items.is_empty(), depth);
        Ok(())
    }

    fn separate(&mut self, position: usize, depth: usize) {
        if position > 0 {
            self.out.push(b',');
        }
        self.line(depth);
    }

    fn close(&mut self, bracket: u8, empty: bool, depth: usize) {
        if !empty {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if self.layout == Layout::Pretty {
            self.out.push(b'\n');
            self.out.extend(std::iter::repeat_n(b' ', depth * 2));
        }
    }
}

/// Which characters are escaped, beside those that must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `<`, `>` and `&`, as Go's encoder does.
    Html,
    /// What breaks a line or must not stand in a text by the rules of YAML.
    Yaml,
    None,
}

pub(crate) fn push_scalar(
    out: &mut Vec<u8>,
    scalar: &Scalar,
    escapes: Escapes,
) -> Result<(), Unprintable> {
    let value = match scalar.tag {
        Tag::Str | Tag::Merge => Canonical::Str(reread(scalar)?),
        _ => canonical(scalar)?,
    };
    match &value {
        Canonical::Null => out.extend_from_slice(b"null"),
        Canonical::Bool(true) => out.extend_from_slice(b"true"),
        Canonical::Bool(false) => out.extend_from_slice(b"false"),
        Canonical::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Canonical::Float(value) => push_json_float(out, *value),
        Canonical::Str(text) => push_string(out, text, escapes),
    }
    Ok(())
}

pub(crate) fn push_string(out: &mut Vec<u8>, text: &str, escapes: Escapes) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (index, c) in text.char_indices() {
        let short = match c {
            '"' | '\\' => c as u8,
            '\n' => b'n',
            '\r' => b'r',
            '\t' => b't',
            '\u{8}' => b'b',
            '\u{c}' => b'f',
            '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => b'u',
            '<' | '>' | '&' if escapes == Escapes::Html => b'u',
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                if escapes == Escapes::Yaml =>
            {
                b'u'
            }
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..index]);
        copied = index + c.len_utf8();
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let code = u32::from(c) as usize;
            let digits = [12, 8, 4, 0].map(|shift| HEX[code >> shift & 0xf]);
            out.extend_from_slice(&digits);
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pos;

    fn sample() -> Node {
        let entries = vec![
            Entry::new("a10", Node::scalar("0x1F", Tag::Int)),
            Entry::new("a2", Node::scalar("1e-7", Tag::Float)),
            Entry::new("s", Node::string("<a&b>\u{2028}\u{1}\n\"\\\u{7f}é")),
            Entry::new("l", Node::seq(vec![Node::null(), Node::map(), Node::seq(Vec::new())])),
            Entry::new("b", Node::scalar("TRUE", Tag::Bool)),
        ];
        Node::new(Pos::default(), Value::Map(entries.into()))
    }

    #[test]
    fn compact_is_what_go_prints() {
        let expected = r#"{"a10":31,"a2":1e-7,"b":true,"l":[null,{},[]],"s":"\u003ca\u0026b\u003e\u2028\u0001\n\"\\é"}"#;
        let expected = expected.replace("é", "\u{7f}é");
        assert_eq!(to_json(&sample()), Ok(expected));
    }

    #[test]
    fn pretty_follows_the_yaml_order() {
        let expected = "{\n  \"a2\": 1e-7,\n  \"a10\": 31,\n  \"b\": true,\n  \"l\": [\n    null,\n    \
                        {},\n    []\n  ],\n  \"s\": \
                        \"<a&b>\\u2028\\u0001\\n\\\"\\\\\u{7f}é\"\n}\n";
        assert_eq!(to_json_pretty(&sample()).as_deref(), Ok(expected));
    }

    #[test]
    fn what_json_cannot_say_is_an_error() {
        let pos = Pos::new(3, 5);
        let mut number = Node::scalar("-.inf", Tag::Float);
        number.pos = pos;
        let entries = vec![Entry::new("a.b", Node::seq(vec![Node::null(), number]))];
        let node = Node::new(Pos::default(), Value::Map(entries.into()));
        let error = to_json(&node).expect_err("infinity is no JSON");
        assert_eq!(error.pos, pos);
        assert_eq!(error.to_string(), "`[\"a.b\"][1]`: JSON has no number for -Inf");
    }
}
