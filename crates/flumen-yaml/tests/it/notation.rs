//! Events as one line, in the notation of the recorded cases: `D` begins a document, `{}` and `[]`
//! are collections, `*` an alias, `=p"text"` a scalar with its style and its text as Go quotes it.
//! The full form adds `f` before flow collections, `@line:column`, `&anchor` and `!"tag"`.

use std::{collections::HashSet, fmt::Write};

use flumen_yaml::{
    Budget, Error, EventKind, Pos, Properties, Style, Tag, Text, decode, events, read, resolve,
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    Full,
}

/// The events of a file, or the error that go-yaml reports for it.
pub(crate) fn notation(bytes: &[u8], form: Form) -> Result<String, Error> {
    let text = decode(bytes)?;
    let budget = Budget::default();
    let mut notation = Notation { form, line: String::new(), anchors: HashSet::new() };
    for event in events(&text, &budget)? {
        let event = event?;
        match event.kind {
            EventKind::DocumentStart { .. } => notation.line.push('D'),
            EventKind::MappingStart { flow, properties } => {
                notation.open('{', flow, event.pos, properties.as_deref());
            }
            EventKind::SequenceStart { flow, properties } => {
                notation.open('[', flow, event.pos, properties.as_deref());
            }
            EventKind::MappingEnd => notation.line.push('}'),
            EventKind::SequenceEnd => notation.line.push(']'),
            EventKind::Alias { anchor } => {
                // Not the parser's business, but go-yaml gives no node for it.
                if !notation.anchors.contains(&anchor) {
                    return Err(read(&text, 1, &budget).expect_err("an unknown anchor"));
                }
                notation.alias(&anchor, event.pos);
            }
            EventKind::Scalar { value, style, properties } => {
                notation.scalar(&value, style, event.pos, properties.as_deref());
            }
            EventKind::StreamStart | EventKind::StreamEnd | EventKind::DocumentEnd { .. } => {}
        }
    }
    Ok(notation.line)
}

struct Notation {
    form: Form,
    line: String,
    anchors: HashSet<Text>,
}

impl Notation {
    fn open(&mut self, bracket: char, flow: bool, pos: Pos, properties: Option<&Properties>) {
        if flow && self.form == Form::Full {
            self.line.push('f');
        }
        self.line.push(bracket);
        self.details(pos, properties);
    }

    fn alias(&mut self, anchor: &Text, pos: Pos) {
        self.line.push('*');
        if self.form == Form::Full {
            self.line.push_str(anchor);
        }
        self.details(pos, None);
    }

    fn scalar(&mut self, value: &Text, style: Style, pos: Pos, properties: Option<&Properties>) {
        self.line.push('=');
        self.line.push(letter(style));
        quote(value, &mut self.line);
        self.details(pos, properties);
        let is_tagged = properties.is_some_and(has_tag);
        if self.form == Form::Full && style == Style::Plain && !is_tagged {
            self.line.push('!');
            quote(tag_name(resolve(value)), &mut self.line);
        }
    }

    fn details(&mut self, pos: Pos, properties: Option<&Properties>) {
        let anchor = properties.and_then(|properties| properties.anchor.clone());
        if self.form == Form::Full {
            write!(self.line, "@{}:{}", pos.line, pos.column).expect("a string takes everything");
            if let Some(anchor) = &anchor {
                self.line.push('&');
                self.line.push_str(anchor);
            }
            if let Some(tag) = properties.filter(|properties| has_tag(properties)) {
                let tag = tag.tag.as_deref().unwrap_or_default();
                let short = tag.strip_prefix("tag:yaml.org,2002:").map(|name| format!("!!{name}"));
                self.line.push('!');
                quote(short.as_deref().unwrap_or(tag), &mut self.line);
            }
        }
        self.anchors.extend(anchor);
    }
}

/// Whether there is a tag that says something.
fn has_tag(properties: &Properties) -> bool {
    properties.tag.as_deref().is_some_and(|tag| tag != "!")
}

fn tag_name(tag: Tag) -> &'static str {
    match tag {
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => "!!int",
        Tag::Float => "!!float",
        Tag::Str => "!!str",
        Tag::Timestamp => "!!timestamp",
        Tag::Binary => "!!binary",
        Tag::Merge => "!!merge",
    }
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
fn quote(text: &str, line: &mut String) {
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
