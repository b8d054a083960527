//! One look at a text, to choose how it is printed.
//!
//! Nearly all strings of a manifest are printable ASCII on one line. A table turns each byte into a
//! set of bits, and the union over the text says which questions need to be asked at all.

use memchr::{memchr_iter, memchr2_iter};

use super::{
    ambiguous::{MAX_KEYWORD, is_ambiguous, starts_keyword},
    passage::is_break,
};

/// A control character other than a line feed, or anything else that must be escaped.
pub(crate) const SPECIAL: u8 = 1;
/// A line feed.
pub(crate) const LINE_FEED: u8 = 1 << 1;
/// `:` or `#`, which end a plain scalar if a space is near.
pub(crate) const MARK: u8 = 1 << 2;
/// Not ASCII, or DEL: needs a closer look.
pub(crate) const HIGH: u8 = 1 << 3;
/// A single quote.
pub(crate) const QUOTE: u8 = 1 << 4;
/// A carriage return.
pub(crate) const RETURN: u8 = 1 << 5;
/// One of the line breaks U+2028 and U+2029.
pub(crate) const SEPARATOR: u8 = 1 << 6;
/// A character that does not survive the passage through JSON.
pub(crate) const FRAGILE: u8 = 1 << 7;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte < 0x20 {
            classes[byte] = SPECIAL;
        } else if byte >= 0x7f {
            classes[byte] = HIGH;
        }
        byte += 1;
    }
    classes[b'\n' as usize] = LINE_FEED;
    classes[b'\r' as usize] = SPECIAL | RETURN;
    classes[b':' as usize] = MARK;
    classes[b'#' as usize] = MARK;
    classes[b'\'' as usize] = QUOTE;
    classes
};

/// The union of the classes of all bytes.
#[inline]
pub(crate) fn scan(text: &str) -> u8 {
    text.bytes().fold(0, |seen, byte| seen | CLASSES[usize::from(byte)])
}

/// Whether a text in which [`scan`] found nothing can be seen to be plain by its two ends.
///
/// That holds for words that start with a letter that starts no keyword, or are longer than any.
#[inline]
pub(crate) fn is_plain_word(text: &str) -> bool {
    match text.as_bytes() {
        [first, .., last] => {
            first.is_ascii_alphabetic()
                && *last != b' '
                && (text.len() > MAX_KEYWORD || !starts_keyword(*first))
        }
        [single] => single.is_ascii_alphabetic() && !starts_keyword(*single),
        [] => false,
    }
}

/// What [`scan`] leaves open about a text with [`HIGH`] bytes.
pub(crate) fn scan_high(text: &str) -> u8 {
    let mut seen = 0;
    for c in text.chars().filter(|&c| c >= '\u{7f}') {
        seen |= match c {
            '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => FRAGILE,
            '\u{2028}' | '\u{2029}' => SEPARATOR,
            '\u{feff}' | '\u{10000}'.. => SPECIAL,
            _ => 0,
        };
    }
    seen
}

/// The forms a scalar can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Single,
    Double,
    Literal,
}

/// Chooses the form of a string; `seen` is what the scans found.
pub(crate) fn choose(text: &str, seen: u8) -> Form {
    if seen & LINE_FEED != 0 {
        return if seen & SPECIAL == 0 && fits_literal(text, seen) {
            Form::Literal
        } else {
            Form::Double
        };
    }
    if seen & SPECIAL != 0 || is_ambiguous(text) {
        return Form::Double;
    }
    if seen & SEPARATOR != 0 {
        return if space_meets_break(text) { Form::Double } else { Form::Single };
    }
    if fits_plain(text, seen) { Form::Plain } else { Form::Single }
}

/// A block cannot end a line, nor itself, in a space.
fn fits_literal(text: &str, seen: u8) -> bool {
    let bytes = text.as_bytes();
    if bytes.last() == Some(&b' ') {
        return false;
    }
    if seen & SEPARATOR != 0 {
        let mut pairs = text.chars().zip(text.chars().skip(1));
        return !pairs.any(|(first, second)| first == ' ' && is_break(second));
    }
    !memchr_iter(b'\n', bytes).any(|at| at > 0 && bytes[at - 1] == b' ')
}

fn space_meets_break(text: &str) -> bool {
    text.chars()
        .zip(text.chars().skip(1))
        .any(|(first, second)| first == ' ' && is_break(second) || is_break(first) && second == ' ')
}

fn fits_plain(text: &str, seen: u8) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if last == b' ' {
        return false;
    }
    let alone = matches!(bytes.get(1), None | Some(b' '));
    let starts_plain = match first {
        b' ' | b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>'
        | b'\'' | b'"' | b'%' | b'@' | b'`' => false,
        b'?' | b':' => !alone,
        b'-' => !alone && !bytes.starts_with(b"---"),
        b'.' => !bytes.starts_with(b"..."),
        _ => true,
    };
    if !starts_plain {
        return false;
    }
    if seen & MARK == 0 {
        return true;
    }
    !memchr2_iter(b':', b'#', bytes).any(|at| {
        if bytes[at] == b':' {
            matches!(bytes.get(at + 1), None | Some(b' '))
        } else {
            at > 0 && bytes[at - 1] == b' '
        }
    })
}
