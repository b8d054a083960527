//! The four forms of a printed scalar.
//!
//! Plain and quoted scalars are folded: the first space beyond column 80 becomes a line break. Only
//! spaces that stand alone qualify, since a reader takes blanks around a break away. Columns count
//! characters, not bytes.

use memchr::memchr_iter;

use super::{
    analysis::{HIGH, QUOTE, SEPARATOR},
    passage::{is_break, is_printable},
};

/// The column from which on a space is a place to fold.
const WIDTH: usize = 80;

/// Where a scalar is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The column of its first character.
    pub(crate) column: usize,
    /// The column of its further lines, or none if it has to stay on one line.
    pub(crate) fold: Option<usize>,
}

/// Starts a line with `indent` spaces.
#[inline]
pub(crate) fn pad(out: &mut Vec<u8>, indent: usize) {
    const SPACES: &[u8] = &[b' '; 64];
    let mut left = indent;
    while left > SPACES.len() {
        out.extend_from_slice(SPACES);
        left -= SPACES.len();
    }
    out.extend_from_slice(&SPACES[..left]);
}

pub(crate) fn plain(out: &mut Vec<u8>, text: &str, seen: u8, place: Place) {
    match place.fold {
        Some(indent) if place.column + text.len() > WIDTH => {
            folded(out, text, seen, place.column, indent);
        }
        _ => out.extend_from_slice(text.as_bytes()),
    }
}

pub(crate) fn single(out: &mut Vec<u8>, text: &str, seen: u8, place: Place) {
    out.push(b'\'');
    let column = place.column + 1;
    if seen & (QUOTE | SEPARATOR) != 0 {
        single_careful(out, text, Place { column, ..place });
    } else if let Some(indent) = place.fold
        && column + text.len() > WIDTH
    {
        folded(out, text, seen, column, indent);
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'\'');
}

/// Copies a text of one line, folding it.
fn folded(out: &mut Vec<u8>, text: &str, seen: u8, mut column: usize, indent: usize) {
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let width = (WIDTH + 1).saturating_sub(column);
        let beyond = if seen & HIGH == 0 { start + width } else { skip_chars(bytes, start, width) };
        let Some(space) = lone_space(bytes, beyond) else { break };
        out.extend_from_slice(&bytes[start..space]);
        out.push(b'\n');
        pad(out, indent);
        column = indent;
        start = space + 1;
    }
    out.extend_from_slice(&bytes[start..]);
}

/// The byte that is `count` characters after `start`, or the end.
fn skip_chars(bytes: &[u8], start: usize, count: usize) -> usize {
    let is_start = |&(_, &byte): &(usize, &u8)| byte & 0xc0 != 0x80;
    let mut starts = bytes.iter().enumerate().skip(start).filter(is_start);
    starts.nth(count).map_or(bytes.len(), |(index, _)| index)
}

/// The first space from `from` on with neither a space nor an end beside it.
fn lone_space(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from.max(1);
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == b' ')?;
        match bytes.get(at + 1) {
            None => return None,
            Some(b' ') => {
                // A run of spaces is no place to fold, and neither is its end.
                at += bytes[at..].iter().take_while(|&&byte| byte == b' ').count();
            }
            Some(_) if bytes[at - 1] == b' ' => at += 1,
            Some(_) => return Some(at),
        }
    }
}

fn single_careful(out: &mut Vec<u8>, text: &str, place: Place) {
    let bytes = text.as_bytes();
    let mut column = place.column;
    let mut after_break = false;
    for (index, c) in text.char_indices() {
        match (c, place.fold) {
            (' ', Some(indent)) if column > WIDTH && lone_space(bytes, index) == Some(index) => {
                out.push(b'\n');
                pad(out, indent);
                column = indent;
                continue;
            }
            (c, _) if is_break(c) => {
                after_break = true;
                column = 0;
                push_char(out, c);
                continue;
            }
            (_, Some(indent)) if after_break => {
                after_break = false;
                pad(out, indent);
                column = indent;
            }
            _ => {}
        }
        if c == '\'' {
            out.push(b'\'');
            column += 1;
        }
        push_char(out, c);
        column += 1;
    }
}

pub(crate) fn double(out: &mut Vec<u8>, text: &str, place: Place) {
    out.push(b'"');
    let bytes = text.as_bytes();
    // A byte order mark at the start makes the reference escape all that follows.
    let escape_all = text.starts_with('\u{feff}');
    let mut column = place.column + 1;
    let mut copied = 0;
    for (index, c) in text.char_indices() {
        let next = index + c.len_utf8();
        if escape_all || needs_escape(c) {
            out.extend_from_slice(&bytes[copied..index]);
            copied = next;
            let before = out.len();
            escape(out, c);
            column += out.len() - before;
            continue;
        }
        let may_fold = c == ' ' && column > WIDTH && index > 0 && next < bytes.len();
        if let Some(indent) = place.fold
            && may_fold
            && bytes[index - 1] != b' '
        {
            out.extend_from_slice(&bytes[copied..index]);
            copied = next;
            out.push(b'\n');
            pad(out, indent);
            column = indent;
            if bytes[next] == b' ' {
                // Keeps the reader from taking the next space for indentation.
                out.push(b'\\');
                column += 1;
            }
            continue;
        }
        column += 1;
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

fn needs_escape(c: char) -> bool {
    c == '"' || c == '\\' || !is_printable(c) || is_break(c)
}

fn escape(out: &mut Vec<u8>, c: char) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(b'\\');
    let short = match c {
        '\0' => b'0',
        '\x07' => b'a',
        '\x08' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\x0b' => b'v',
        '\x0c' => b'f',
        '\r' => b'r',
        '\x1b' => b'e',
        '"' => b'"',
        '\\' => b'\\',
        '\u{85}' => b'N',
        '\u{a0}' => b'_',
        '\u{2028}' => b'L',
        '\u{2029}' => b'P',
        _ => {
            let code = u32::from(c);
            let (letter, digits) = match code {
                0..=0xff => (b'x', 2),
                0x100..=0xffff => (b'u', 4),
                _ => (b'U', 8),
            };
            out.push(letter);
            out.extend((0..digits).rev().map(|digit| HEX[(code >> (digit * 4)) as usize & 0xf]));
            return;
        }
    };
    out.push(short);
}

/// Prints a block and ends its last line.
pub(crate) fn literal(out: &mut Vec<u8>, text: &str, seen: u8, indent: usize) {
    out.push(b'|');
    if text.starts_with(' ') || text.starts_with(is_break) {
        out.push(b'2');
    }
    let mut from_end = text.chars().rev();
    let (last, before) = (from_end.next(), from_end.next());
    let ends_in_break = last.is_some_and(is_break);
    if !ends_in_break {
        out.push(b'-');
    } else if before.is_none_or(is_break) {
        out.push(b'+');
    }
    out.push(b'\n');
    if seen & SEPARATOR == 0 {
        let bytes = text.as_bytes();
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes).map(|at| at + 1).chain([bytes.len()]) {
            push_line(out, &bytes[start..end], indent);
            start = end;
        }
    } else {
        for line in text.split_inclusive(is_break) {
            let is_empty = line.starts_with(is_break);
            push_line(out, line.as_bytes(), if is_empty { 0 } else { indent });
        }
    }
    if !ends_in_break {
        out.push(b'\n');
    }
}

/// Copies one line with its break; an empty one is not indented.
fn push_line(out: &mut Vec<u8>, line: &[u8], indent: usize) {
    if !matches!(line, [] | [b'\n']) {
        pad(out, indent);
    }
    out.extend_from_slice(line);
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
