//! Bytes to text, and what kind of text it is.
//!
//! go-yaml takes UTF-8 and, after a byte order mark, UTF-16; it refuses control characters wherever
//! they stand, comments included. One pass over the text answers that and three questions that make
//! the scanner fast: is it ASCII, does it hold carriage returns, does it hold Unicode line breaks.

use crate::{Error, Pos, Text, budget::MAX_INPUT};

const MARK_UTF8: &[u8] = b"\xEF\xBB\xBF";
const MARK_UTF16_LE: &[u8] = b"\xFF\xFE";
const MARK_UTF16_BE: &[u8] = b"\xFE\xFF";
const NOT_ALLOWED: &str = "control characters are not allowed";

/// The text of a file: byte order mark removed, UTF-16 converted, invalid encodings refused.
pub fn decode(bytes: &[u8]) -> Result<Text, Error> {
    if bytes.len() > MAX_INPUT {
        return Err(too_large(MAX_INPUT, Pos::new(1, 1)));
    }
    if let Some(rest) = bytes.strip_prefix(MARK_UTF16_LE) {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(MARK_UTF16_BE) {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    let content = bytes.strip_prefix(MARK_UTF8).unwrap_or(bytes);
    match std::str::from_utf8(content) {
        Ok(text) => Ok(Text::from(text)),
        Err(error) => Err(refuse_utf8(content, error.valid_up_to())),
    }
}

/// [`decode`] for bytes that are known to be UTF-8: the result shares them.
pub fn decode_text(text: &Text) -> Result<Text, Error> {
    if text.len() > MAX_INPUT {
        return Err(too_large(MAX_INPUT, Pos::new(1, 1)));
    }
    let marked = text.as_bytes().starts_with(MARK_UTF8);
    Ok(if marked { text.sub(MARK_UTF8.len()..text.len()) } else { text.clone() })
}

#[cold]
pub(crate) fn too_large(limit: usize, pos: Pos) -> Error {
    Error::new(format!("the text is too large: the limit is {limit} bytes"), pos)
}

fn refuse_utf8(bytes: &[u8], valid: usize) -> Error {
    let (good, bad) = bytes.split_at(valid);
    let good = String::from_utf8_lossy(good);
    if let Err(error) = Traits::of(&good) {
        return error;
    }
    let width = match bad.first() {
        Some(0x80..=0xBF | 0xF8..) | None => 0,
        Some(0x00..=0x7F) => 1,
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
    };
    let trailing = bad.get(1..width);
    let problem = match (width, trailing) {
        (0, _) => "invalid leading UTF-8 octet",
        (_, None) => "incomplete UTF-8 octet sequence",
        (_, Some(bytes)) if bytes.iter().any(|byte| byte & 0xC0 != 0x80) => {
            "invalid trailing UTF-8 octet"
        }
        (_, Some(bytes)) => match (bad.first(), bytes.first()) {
            (Some(0xC0 | 0xC1), _) | (Some(0xE0), Some(..0xA0)) | (Some(0xF0), Some(..0x90)) => {
                "invalid length of a UTF-8 sequence"
            }
            _ => "invalid Unicode character",
        },
    };
    Error::new(problem, place_after(&good))
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Text, Error> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut units = pairs.iter().map(|&pair| unit(pair));
    while let Some(first) = units.next() {
        let decoded = match first {
            0xDC00..=0xDFFF => Err("unexpected low surrogate area"),
            0xD800..=0xDBFF => match units.next() {
                None => Err("incomplete UTF-16 surrogate pair"),
                Some(second @ 0xDC00..=0xDFFF) => {
                    let code = 0x1_0000 + ((u32::from(first) & 0x3FF) << 10);
                    Ok(code + (u32::from(second) & 0x3FF))
                }
                Some(_) => Err("expected low surrogate area"),
            },
            _ => Ok(u32::from(first)),
        };
        match decoded {
            Ok(code) => text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
            Err(problem) => return Err(Error::new(problem, place_after(&text))),
        }
    }
    if !rest.is_empty() {
        return Err(Error::new("incomplete UTF-16 character", place_after(&text)));
    }
    Ok(Text::from(text))
}

/// The place that follows `text`.
fn place_after(text: &str) -> Pos {
    let lines = text.matches('\n').count();
    let last = text.rsplit('\n').next().unwrap_or_default();
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Pos::new(number(lines), number(last.chars().count()))
}

/// What a text holds, for the scanner's shortcuts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    pub(crate) ascii: bool,
    pub(crate) carriage_returns: bool,
    /// Holds NEL, LS or PS, which go-yaml takes for line breaks.
    pub(crate) wide_breaks: bool,
}

impl Traits {
    /// Looks at every byte once; refuses control characters.
    pub(crate) fn of(text: &str) -> Result<Self, Error> {
        let mut traits = Self { ascii: true, ..Self::default() };
        let mut start = 0;
        for chunk in text.as_bytes().chunks(64) {
            let summary = Summary::of(chunk);
            if summary.control || summary.wide {
                traits.inspect(text, start, chunk.len())?;
            }
            traits.carriage_returns |= summary.carriage_return;
            traits.ascii &= !summary.wide;
            start += chunk.len();
        }
        Ok(traits)
    }

    /// Looks at the characters that begin in a chunk that has some unusual ones.
    fn inspect(&mut self, text: &str, start: usize, len: usize) -> Result<(), Error> {
        let bytes = text.as_bytes();
        for index in start..start + len {
            let next = |offset: usize| bytes.get(index + offset).copied().unwrap_or(0);
            let allowed = match next(0) {
                b'\t' | b'\n' | b'\r' => true,
                0x00..0x20 | 0x7F => false,
                0xC2 => {
                    self.wide_breaks |= next(1) == 0x85;
                    next(1) == 0x85 || next(1) >= 0xA0
                }
                0xE2 => {
                    self.wide_breaks |= next(1) == 0x80 && matches!(next(2), 0xA8 | 0xA9);
                    true
                }
                0xEF => !(next(1) == 0xBF && next(2) >= 0xBE),
                _ => true,
            };
            if !allowed {
                return Err(Error::new(NOT_ALLOWED, place_after(&text[..index])));
            }
        }
        Ok(())
    }
}

struct Summary {
    control: bool,
    wide: bool,
    carriage_return: bool,
}

impl Summary {
    /// Written without branches, so that it runs on many bytes at once.
    fn of(chunk: &[u8]) -> Self {
        let mut control = 0;
        let mut wide = 0;
        let mut carriage_return = 0;
        for &byte in chunk {
            let space = u8::from(byte == b'\t' || byte == b'\n' || byte == b'\r');
            control |= u8::from(byte < 0x20) & !space | u8::from(byte == 0x7F);
            wide |= byte;
            carriage_return |= u8::from(byte == b'\r');
        }
        Self { control: control != 0, wide: wide >= 0x80, carriage_return: carriage_return != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<&str, (&str, Pos)>) {
        let found = decode(bytes).and_then(|text| Traits::of(&text).map(|_| text));
        match (found, expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected),
            (Err(error), Err((problem, pos))) => {
                assert_eq!((error.problem(), error.pos()), (problem, pos), "{bytes:?}");
            }
            (found, expected) => panic!("{bytes:?}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn byte_order_marks_are_removed() {
        check(b"\xEF\xBB\xBFa: b\n", Ok("a: b\n"));
        check(b"\xFF\xFEa\0:\0\n\0", Ok("a:\n"));
        check(b"\xFE\xFF\0a\xD8\x3D\xDE\x00", Ok("a😀"));
    }

    #[test]
    fn broken_encodings_are_refused_where_they_break() {
        check(b"a\nb\x80", Err(("invalid leading UTF-8 octet", Pos::new(2, 2))));
        check(b"\xF8", Err(("invalid leading UTF-8 octet", Pos::new(1, 1))));
        check(b"a\xE2\x82", Err(("incomplete UTF-8 octet sequence", Pos::new(1, 2))));
        check(b"a\xE2\x82b", Err(("invalid trailing UTF-8 octet", Pos::new(1, 2))));
        check(b"\xC0\x80", Err(("invalid length of a UTF-8 sequence", Pos::new(1, 1))));
        check(b"\xED\xA0\x80", Err(("invalid Unicode character", Pos::new(1, 1))));
        check(b"\xF4\x90\x80\x80", Err(("invalid Unicode character", Pos::new(1, 1))));
        check(b"\xFF\xFEa", Err(("incomplete UTF-16 character", Pos::new(1, 1))));
        check(b"\xFF\xFE\x00\xDC", Err(("unexpected low surrogate area", Pos::new(1, 1))));
        check(b"\xFF\xFE\x00\xD8", Err(("incomplete UTF-16 surrogate pair", Pos::new(1, 1))));
        check(b"\xFF\xFE\x00\xD8a\0", Err(("expected low surrogate area", Pos::new(1, 1))));
    }

    #[test]
    fn control_characters_are_refused() {
        let refused = |pos| Err((NOT_ALLOWED, pos));
        check(b"a: \x07\n", refused(Pos::new(1, 4)));
        check(b"# \x7F", refused(Pos::new(1, 3)));
        check(b"a\n\xC2\x80", refused(Pos::new(2, 1)));
        check(b"\xEF\xBF\xBF", refused(Pos::new(1, 1)));
        check(b"\0", refused(Pos::new(1, 1)));
        check(b"\x01\xFF", refused(Pos::new(1, 1)));
        check(
            "\t\r\u{85}\u{A0}\u{FEFF}\u{FFFD}".as_bytes(),
            Ok("\t\r\u{85}\u{A0}\u{FEFF}\u{FFFD}"),
        );
    }

    #[test]
    fn traits_tell_what_a_text_holds() {
        let traits = |text| {
            let traits = Traits::of(text).expect("allowed");
            (traits.ascii, traits.carriage_returns, traits.wide_breaks)
        };
        assert_eq!(traits("a: b\n"), (true, false, false));
        assert_eq!(traits("a: b\r\n"), (true, true, false));
        assert_eq!(traits("a: é\n"), (false, false, false));
        assert_eq!(traits("a: \u{2028}\n"), (false, false, true));
        assert_eq!(traits(&format!("{}\u{85}", "x".repeat(63))), (false, false, true));
    }
}
