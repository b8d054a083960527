//! What text suffers on its way to print.
//!
//! The reference prints a tree three times: as YAML in the styles of the input, as JSON, and as
//! YAML again, reading it back in between. Three things do not survive that unharmed, and output
//! that is equal byte for byte has to share the harm: folded blocks with indented lines, blocks that
//! start with a tab, and characters that JSON passes on but YAML does not.

use std::borrow::Cow;

use crate::{Scalar, Style, Unprintable};

const NEXT_LINE: char = '\u{85}';

/// The text of a string after it was printed in its own style and read back.
#[inline]
pub(crate) fn reread(scalar: &Scalar) -> Result<Cow<'_, str>, Unprintable> {
    let text = scalar.text.as_str();
    match scalar.style {
        Style::Folded => reread_block(text, scalar.style),
        Style::Literal | Style::Plain if text.starts_with('\t') => reread_block(text, scalar.style),
        _ => Ok(Cow::Borrowed(text)),
    }
}

#[cold]
fn reread_block(text: &str, style: Style) -> Result<Cow<'_, str>, Unprintable> {
    let is_block = style != Style::Plain || text.contains('\n');
    if !is_block || !fits_block(text) {
        return Ok(Cow::Borrowed(text));
    }
    if text.starts_with('\t') {
        return Err(Unprintable::LeadingTab);
    }
    Ok(if style == Style::Folded { refold(text) } else { Cow::Borrowed(text) })
}

/// Whether the reference would print `text` as a block if asked to, rather than in double quotes.
fn fits_block(text: &str) -> bool {
    let mut after_space = false;
    for c in text.chars() {
        let special = c != '\t' && !is_printable(c);
        if special || after_space && is_break(c) {
            return false;
        }
        after_space = c == ' ';
    }
    !text.is_empty() && !after_space
}

/// Prints `text` as a folded block and reads it again.
///
/// The printer separates two lines by an empty one, so that they are not joined. It should not do
/// so before a line that starts with a blank, nor at the end, but it looks for that blank at the
/// start of the whole text instead of at the next line.
fn refold(text: &str) -> Cow<'_, str> {
    let starts_blank = |text: &str| text.starts_with([' ', '\t']);
    let body = text.trim_start_matches(is_break);
    let separates = !body.is_empty() && !starts_blank(body) && !body.starts_with('\0');
    let mut result = String::with_capacity(text.len() + 8);
    result.push_str(&text[..text.len() - body.len()]);
    let mut rest = body;
    while !rest.is_empty() {
        let line_end = rest.find(is_break).unwrap_or(rest.len());
        let (line, after) = rest.split_at(line_end);
        let next = after.trim_start_matches(is_break);
        let breaks = &after[..after.len() - next.len()];
        result.push_str(line);
        let extra = separates && !starts_blank(line) && breaks.starts_with('\n');
        let first_break = breaks.chars().next().map_or(0, char::len_utf8);
        if next.is_empty() {
            // A single break at the end needs no hint, so it alone is kept; more are all kept.
            let single = breaks.len() == first_break;
            result.push_str(if extra && !single { "\n" } else { "" });
            result.push_str(breaks);
        } else if starts_blank(line) || starts_blank(next) || !breaks.starts_with('\n') {
            result.push_str(if extra { "\n" } else { "" });
            result.push_str(breaks);
        } else if extra {
            result.push_str(breaks);
        } else if breaks.len() == first_break {
            result.push(' ');
        } else {
            result.push_str(&breaks[first_break..]);
        }
        rest = next;
    }
    if result == text { Cow::Borrowed(text) } else { Cow::Owned(result) }
}

/// The text of a value after the passage through JSON.
///
/// JSON leaves the line break U+0085 as it is, and YAML then folds it as it folds any break within
/// double quotes.
pub(crate) fn through_json(text: &str) -> Result<Cow<'_, str>, Unprintable> {
    if let Some(refused) = text.chars().find(|&c| is_refused(c)) {
        return Err(Unprintable::ControlCharacter(refused));
    }
    if !text.contains(NEXT_LINE) {
        return Ok(Cow::Borrowed(text));
    }
    let is_blank = |c: char| c == ' ' || c == NEXT_LINE;
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let word_end = rest.find(is_blank).unwrap_or(rest.len());
        result.push_str(&rest[..word_end]);
        rest = &rest[word_end..];
        if rest.is_empty() {
            return Ok(Cow::Owned(result));
        }
        let next = rest.trim_start_matches(is_blank);
        let blanks = &rest[..rest.len() - next.len()];
        match blanks.matches(NEXT_LINE).count() {
            0 => result.push_str(blanks),
            1 => result.push(' '),
            breaks => result.extend(std::iter::repeat_n('\n', breaks - 1)),
        }
        let marker = next.get(..3).is_some_and(|start| start == "---" || start == "...");
        if marker && blanks.ends_with(NEXT_LINE) && next[3..].starts_with(is_blank) {
            return Err(Unprintable::DocumentMarker);
        }
        rest = next;
    }
}

/// Keys are read back as simple keys: on one line, and within a limit.
pub(crate) fn check_key(key: &str) -> Result<(), Unprintable> {
    const LIMIT: usize = 1022;
    if let Some(refused) = key.chars().find(|&c| is_refused(c)) {
        return Err(Unprintable::ControlCharacter(refused));
    }
    if key.contains(NEXT_LINE) {
        return Err(Unprintable::BreakInKey);
    }
    let length: usize = key.chars().map(json_length).sum();
    if length > LIMIT { Err(Unprintable::LongKey) } else { Ok(()) }
}

/// Bytes of a key up to which [`check_key`] has no need to count.
pub(crate) const SAFE_KEY: usize = 128;

fn json_length(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// Characters that JSON passes on unescaped and YAML does not take.
fn is_refused(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// Characters that may stand in the output as they are.
pub(crate) fn is_printable(c: char) -> bool {
    match c {
        '\u{feff}' => false,
        '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}' => true,
        _ => false,
    }
}

/// Line breaks of YAML 1.1.
pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | NEXT_LINE | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_blocks_change_when_printed() {
        let check = |text: &str, expected: &str| assert_eq!(refold(text), expected, "{text:?}");
        check("a\nb", "a\nb");
        check("a\nb\n", "a\nb\n");
        check("a\n\nb\n", "a\n\nb\n");
        check("a\n  b\nc\n", "a\n\n  b\nc\n");
        check("a\n\n", "a\n\n\n");
        check("  a\nb\nc\n", "  a\nb c\n");
        check("  a\nb\n\nc\n\n", "  a\nb\nc\n\n");
        check("\n\na\n\tb", "\n\na\n\n\tb");
        check("a\n\u{2028}", "a\n\n\u{2028}");
        check("\n", "\n");
    }

    #[test]
    fn next_line_is_folded() {
        let check = |text: &str, expected: &str| {
            assert_eq!(through_json(text).as_deref(), Ok(expected), "{text:?}");
        };
        check("a\u{85}b", "a b");
        check("a  \u{85}\u{85}  b", "a\nb");
        check("a\u{85}", "a ");
        check("\u{85}---b", " ---b");
        check("\u{85}---", " ---");
        check("a  b\u{85}c", "a  b c");
        assert_eq!(through_json("\u{85}--- b"), Err(Unprintable::DocumentMarker));
        assert_eq!(through_json("a\u{7f}"), Err(Unprintable::ControlCharacter('\u{7f}')));
    }

    #[test]
    fn keys_have_a_limit() {
        assert_eq!(check_key(&"a".repeat(1022)), Ok(()));
        assert_eq!(check_key(&"é".repeat(1022)), Ok(()));
        assert_eq!(check_key(&"a".repeat(1023)), Err(Unprintable::LongKey));
        assert_eq!(check_key(&"<".repeat(170)), Ok(()));
        assert_eq!(check_key(&"<".repeat(171)), Err(Unprintable::LongKey));
        assert_eq!(check_key("a\u{85}"), Err(Unprintable::BreakInKey));
    }
}
