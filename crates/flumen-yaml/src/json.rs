//! The same values as JSON, as Go's encoder prints it.

use crate::{
    Canonical, EmitError, Entry, Node, Scalar, Tag, Unprintable, Value, canonical,
    emit::{Failure, reread},
    number::push_json_float,
};

/// The value of `node` exactly as Go's `encoding/json` writes it: compact, keys sorted by bytes, and
/// with `<`, `>` and `&` escaped.
pub fn to_json(node: &Node) -> Result<String, EmitError> {
    let mut out = Vec::new();
    print(&mut out, node)?;
    Ok(String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn print(out: &mut Vec<u8>, node: &Node) -> Result<(), Failure> {
    match &node.value {
        Value::Map(map) => {
            let mut entries: Vec<&Entry> = map.entries().iter().collect();
            entries.sort_by(|a, b| a.key.as_bytes().cmp(b.key.as_bytes()));
            out.push(b'{');
            for (index, entry) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_string(out, &entry.key, Escapes::Html);
                out.push(b':');
                print(out, &entry.value).map_err(|failure| failure.in_key(&entry.key))?;
            }
            out.push(b'}');
        }
        Value::Seq(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                print(out, item).map_err(|failure| failure.in_index(index))?;
            }
            out.push(b']');
        }
        Value::Scalar(scalar) => push_scalar(out, scalar, Escapes::Html)
            .map_err(|reason| Failure::new(node.pos, reason))?,
    }
    Ok(())
}

/// Characters that are escaped beside those that must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `<`, `>` and `&`, as Go's encoder does.
    Html,
    /// What breaks a line or must not stand in a text by the rules of YAML.
    Yaml,
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
