//! Events as one line, in the notation of the recorded cases: `D` begins a document, `{}` and `[]`
//! are collections, `*` an alias, `=p"text"` a scalar with its style and its text as Go quotes it.

use std::fmt::Write;

use flumen_yaml::{Budget, Error, EventKind, Style, Text, decode, events};

/// The events of a file, or the error that go-yaml reports for it.
pub(crate) fn notation(bytes: &[u8]) -> Result<String, Error> {
    let text = decode(bytes)?;
    let budget = Budget::default();
    let mut line = String::new();
    let mut anchors = Vec::new();
    for event in events(&text, &budget)? {
        match event?.kind {
            EventKind::DocumentStart { .. } => line.push('D'),
            EventKind::MappingStart { properties, .. } => {
                anchors.extend(properties.and_then(|properties| properties.anchor));
                line.push('{');
            }
            EventKind::SequenceStart { properties, .. } => {
                anchors.extend(properties.and_then(|properties| properties.anchor));
                line.push('[');
            }
            EventKind::MappingEnd => line.push('}'),
            EventKind::SequenceEnd => line.push(']'),
            EventKind::Alias { anchor } => {
                // Not the parser's business, but go-yaml gives no node for it.
                if !anchors.contains(&anchor) {
                    return Err(flumen_yaml::read(&text, 1, &budget).expect_err("unknown anchor"));
                }
                line.push('*');
            }
            EventKind::Scalar { value, style, properties } => {
                anchors.extend(properties.and_then(|properties| properties.anchor));
                line.push('=');
                line.push(letter(style));
                quote(&value, &mut line);
            }
            EventKind::StreamStart | EventKind::StreamEnd | EventKind::DocumentEnd { .. } => {}
        }
    }
    Ok(line)
}

fn letter(style: Style) -> char {
    match style {
        Style::Plain => 'p',
        Style::SingleQuoted => 's',
        Style::DoubleQuoted => 'd',
        Style::Literal => 'l',
        Style::Folded => 'f',
    }
}

/// ASCII in Go's way of quoting.
fn quote(text: &Text, line: &mut String) {
    line.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => line.extend(['\\', character]),
            '\x07' => line.push_str("\\a"),
            '\x08' => line.push_str("\\b"),
            '\x0B' => line.push_str("\\v"),
            '\x0C' => line.push_str("\\f"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            ' '..='~' => line.push(character),
            _ => {
                let code = u32::from(character);
                let written = match code {
                    0..0x80 => write!(line, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(line, "\\u{code:04x}"),
                    _ => write!(line, "\\U{code:08x}"),
                };
                written.expect("a string takes everything");
            }
        }
    }
    line.push('"');
}
