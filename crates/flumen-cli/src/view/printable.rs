//! Text of unknown origin, made safe for a terminal.
//!
//! Names and values of a manifest end up in messages. An escape sequence in one of them could
//! clear the screen or retitle the window, a bidirectional control could turn the message around,
//! and a megabyte could scroll everything else away. So all of it passes through here.

use std::{borrow::Cow, fmt::Write};

/// How line breaks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Escaped: the text has to stay on one line.
    Escape,
    /// Kept, at most so many lines.
    Keep(usize),
}

/// Escapes everything that a terminal might obey, and cuts the text to about `max_bytes`.
pub(crate) fn printable(text: &str, lines: Lines, max_bytes: usize) -> String {
    let mut printable = String::with_capacity(text.len().min(max_bytes));
    let mut breaks = 0;
    let text = mask_credentials(text.trim_end_matches(['\n', '\r']));
    for c in text.chars() {
        if printable.len() >= max_bytes {
            printable.push('…');
            break;
        }
        match (c, lines) {
            ('\n', Lines::Keep(max_lines)) => {
                breaks += 1;
                if breaks >= max_lines {
                    printable.push('…');
                    break;
                }
                printable.push('\n');
            }
            ('\n', Lines::Escape) => printable.push_str("\\n"),
            ('\t', _) => printable.push(' '),
            _ if is_unsafe(c) => {
                // Writing to a string cannot fail.
                let _ = write!(printable, "{}", c.escape_unicode());
            }
            _ => printable.push(c),
        }
    }
    printable
}

/// Puts stars over user names and passwords in addresses, one for each character.
///
/// The engine does not quote them, but the line of the file that it points at may hold them.
pub(crate) fn mask_credentials(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://").map(|start| start + 3) {
        let (before, after) = rest.split_at(scheme_end);
        let is_end = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace();
        let authority = after.split(is_end).next().unwrap_or_default();
        let user = authority.rfind('@').map_or("", |at| &authority[..at]);
        masked.push_str(before);
        // The user of every Git server tells nothing.
        if user == "git" {
            masked.push_str(user);
        } else {
            masked.extend(user.chars().map(|_| '*'));
        }
        rest = &after[user.len()..];
    }
    if masked.is_empty() {
        return Cow::Borrowed(text);
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

/// Control characters, and format characters that hide or reorder what stands around them.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: Lines, expected: &str) {
        assert_eq!(printable(text, lines, 40), expected);
    }

    #[test]
    fn plain_text_stays() {
        check("name 'é' — 日本", Lines::Escape, "name 'é' — 日本");
    }

    #[test]
    fn terminal_controls_are_spelled_out() {
        check("a\x1b[2J\x07", Lines::Escape, "a\\u{1b}[2J\\u{7}");
        check("c1 \u{9b}2J", Lines::Escape, "c1 \\u{9b}2J");
        check("cr \r del \x7f", Lines::Escape, "cr \\u{d} del \\u{7f}");
    }

    #[test]
    fn reordering_is_spelled_out() {
        check("a\u{202e}b\u{2066}", Lines::Escape, "a\\u{202e}b\\u{2066}");
        check("x\u{200b}y", Lines::Escape, "x\\u{200b}y");
    }

    #[test]
    fn lines_are_kept_or_escaped() {
        check("a\nb\n", Lines::Escape, "a\\nb");
        check("a\nb\n", Lines::Keep(3), "a\nb");
        check("a\nb\nc\nd", Lines::Keep(2), "a\nb…");
    }

    #[test]
    fn long_text_is_cut() {
        check(&"x".repeat(50), Lines::Escape, &format!("{}…", "x".repeat(40)));
    }

    #[test]
    fn credentials_are_covered() {
        check("see http://me:pass@host/x", Lines::Escape, "see http://*******@host/x");
        check("'https://token@h?a@b' //c@d", Lines::Escape, "'https://*****@h?a@b' //c@d");
        check("ssh://git@host/a http://x/y@z", Lines::Escape, "ssh://git@host/a http://x/y@z");
        check("a://é:b@c b://d@e", Lines::Escape, "a://***@c b://*@e");
        check("://", Lines::Escape, "://");
    }
}
