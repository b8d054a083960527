//! Scalars in the style they had, as far as that style can hold them.

use flumen_yaml::{Scalar, Style, Tag, resolve};

/// What a scalar stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Block { indent: usize },
    Flow,
    Key,
    FlowKey,
}

pub(super) fn print(out: &mut String, scalar: &Scalar, context: Context) {
    let Scalar { text, tag, style } = scalar;
    let natural = resolve(text);
    let is_plain = *style == Style::Plain;
    let mut style = *style;
    if *tag != natural && !matches!(tag, Tag::Str | Tag::Merge) {
        out.push_str(tag_name(*tag));
        out.push_str(if text.is_empty() && is_plain { "" } else { " " });
    }
    if is_plain && text.contains('\n') {
        style = Style::Literal;
    } else if is_plain && *tag == Tag::Str && natural != Tag::Str {
        style = Style::DoubleQuoted;
    }
    match (style, context) {
        (Style::Plain, _) if is_plain_allowed(text, context) => out.push_str(text),
        (Style::Literal, Context::Block { indent }) if is_block_allowed(text) => {
            print_block(out, text, text, indent, '|');
        }
        (Style::Folded, Context::Block { indent }) if is_block_allowed(text) => {
            print_block(out, text, &fold(text), indent, '>');
        }
        (Style::SingleQuoted, Context::Block { indent }) if is_folded_single_allowed(text) => {
            single_quoted_lines(out, text, indent);
        }
        (Style::Plain | Style::SingleQuoted, _) if is_single_allowed(text) => {
            out.push('\'');
            out.push_str(&text.replace('\'', "''"));
            out.push('\'');
        }
        _ => double_quoted(out, text),
    }
}

/// A text of several lines in single quotes: each line break is one more than it stands for.
fn single_quoted_lines(out: &mut String, text: &str, indent: usize) {
    out.push('\'');
    let mut is_after_break = false;
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        if is_after_break && !bare.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        out.push_str(&bare.replace('\'', "''"));
        if bare.len() < line.len() {
            out.push_str(if is_after_break && bare.is_empty() { "\n" } else { "\n\n" });
            is_after_break = true;
        } else {
            is_after_break = false;
        }
    }
    if text.ends_with('\n') {
        out.extend(std::iter::repeat_n(' ', indent.saturating_sub(2)));
    }
    out.push('\'');
}

/// A block scalar: its header says how `text` ends, its lines are those of `layout`.
fn print_block(out: &mut String, text: &str, layout: &str, indent: usize, sign: char) {
    out.push(sign);
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    let body = text.trim_end_matches('\n');
    match text.len() - body.len() {
        0 => out.push('-'),
        1 if !body.is_empty() => {}
        _ => out.push('+'),
    }
    let lines = layout.strip_suffix('\n').unwrap_or(layout);
    for line in lines.split('\n') {
        if line.is_empty() {
            out.push('\n');
        } else {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
}

fn double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{85}' => out.push_str("\\N"),
            '\u{a0}' => out.push_str("\\_"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            '\u{feff}' => out.push_str("\\uFEFF"),
            char if is_special(char) => {
                let code = u32::from(char);
                let escape =
                    if code < 0x100 { format!("\\x{code:02X}") } else { format!("\\u{code:04X}") };
                out.push_str(&escape);
            }
            char => out.push(char),
        }
    }
    out.push('"');
}

/// A folded text takes the line break behind a line for a space, so each of them is doubled.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        folded.push_str(line);
        if line.len() > 1 && line.ends_with('\n') && !line.starts_with(' ') {
            folded.push('\n');
        }
    }
    folded
}

const fn tag_name(tag: Tag) -> &'static str {
    match tag {
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => "!!int",
        Tag::Float => "!!float",
        Tag::Timestamp => "!!timestamp",
        Tag::Binary => "!!binary",
        Tag::Str | Tag::Merge => "!!str",
    }
}

/// Characters that only double quotes can hold.
fn is_special(char: char) -> bool {
    let is_printable = matches!(char, ' '..='~' | '\n' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        || char > '\u{ffff}';
    !is_printable || char == '\u{feff}'
}

fn has_special(text: &str) -> bool {
    text.chars().any(|char| char != '\t' && is_special(char))
}

fn is_plain_allowed(text: &str, context: Context) -> bool {
    let is_flow = matches!(context, Context::Flow | Context::FlowKey);
    let is_key = matches!(context, Context::Key | Context::FlowKey);
    let Some(first) = text.chars().next() else { return !is_flow && !is_key };
    if text.starts_with("---") || text.starts_with("...") || text.contains(['\n', '\t']) {
        return false;
    }
    if text.starts_with(' ') || text.ends_with(' ') || has_special(text) {
        return false;
    }
    let mut previous = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let before_space = chars.peek().is_none_or(|next| *next == ' ');
        let is_first = previous.is_none();
        let is_indicator = match char {
            '#' => is_first || previous == Some(' '),
            ':' => before_space || is_flow,
            ',' | '[' | ']' | '{' | '}' => is_first || is_flow,
            '?' => (is_first && before_space) || is_flow,
            '-' => is_first && before_space,
            '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => first == char && is_first,
            _ => false,
        };
        if is_indicator {
            return false;
        }
        previous = Some(char);
    }
    true
}

fn is_single_allowed(text: &str) -> bool {
    !text.contains(['\n', '\t']) && !has_special(text)
}

/// Whether single quotes can hold a text of several lines.
fn is_folded_single_allowed(text: &str) -> bool {
    text.contains('\n')
        && !text.contains(" \n")
        && !text.contains("\n ")
        && !text.contains('\t')
        && !has_special(text)
}

fn is_block_allowed(text: &str) -> bool {
    !text.is_empty() && !text.ends_with(' ') && !text.contains(" \n") && !has_special(text)
}
