//! How the bytes of a file stand in an archive.

use std::{fmt::Write as _, str};

use super::looks_like_heading;

/// From the most readable to the most capable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    /// The last newline belongs to the archive, not to the file.
    NoFinalNewline,
    /// Text with `\r`, `\t`, `\\`, `\u{…}` and, at the very end, `\` for "no newline here".
    Escaped,
    Base64,
}

const REMARKS: [(Encoding, &str); 3] = [
    (Encoding::NoFinalNewline, " (no final newline)"),
    (Encoding::Escaped, " (escaped)"),
    (Encoding::Base64, " (base64)"),
];

impl Encoding {
    pub(super) fn mildest(bytes: &[u8]) -> Self {
        let Ok(text) = str::from_utf8(bytes) else { return Self::Base64 };
        if text.chars().any(needs_escape) || text.lines().any(looks_like_heading) {
            Self::Escaped
        } else if text.is_empty() || text.ends_with('\n') {
            Self::Plain
        } else {
            Self::NoFinalNewline
        }
    }

    pub(super) fn remark(self) -> &'static str {
        REMARKS.iter().find(|(encoding, _)| *encoding == self).map_or("", |(_, remark)| remark)
    }

    /// Splits `name (remark)`; an unknown remark is part of the name.
    pub(super) fn from_remark(heading: &str) -> (&str, Self) {
        REMARKS
            .iter()
            .find_map(|(encoding, remark)| Some((heading.strip_suffix(remark)?, *encoding)))
            .unwrap_or((heading, Self::Plain))
    }

    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Plain => String::from_utf8_lossy(bytes).into_owned(),
            Self::NoFinalNewline => format!("{}\n", String::from_utf8_lossy(bytes)),
            Self::Escaped => escape(&String::from_utf8_lossy(bytes)),
            Self::Base64 => base64_encode(bytes),
        }
    }

    pub(super) fn decode(self, body: &str) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Plain => Ok(body.as_bytes().to_vec()),
            Self::NoFinalNewline => Ok(body.strip_suffix('\n').unwrap_or(body).as_bytes().to_vec()),
            Self::Escaped => unescape(body).map(String::into_bytes),
            Self::Base64 => base64_decode(body),
        }
    }
}

/// Characters that an editor would hide or a version-control system would change.
fn needs_escape(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let mut chars = bare.chars();
        if looks_like_heading(bare)
            && let Some(first) = chars.next()
        {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(first));
        }
        for c in chars {
            match c {
                '\\' => out.push_str("\\\\"),
                '\r' => out.push_str("\\r"),
                c if needs_escape(c) => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        out.push_str("\\\n");
    }
    out
}

fn unescape(body: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('\\') => out.push('\\'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('\n') | None => {
                return if chars.next().is_none() {
                    Ok(out)
                } else {
                    Err("a backslash at the end of a line is allowed on the last line only")
                };
            }
            Some('u') => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                let code = u32::from_str_radix(&digits, 16).map_err(|_| "malformed \\u{…}")?;
                out.push(char::from_u32(code).ok_or("\\u{…} names no character")?);
            }
            Some(_) => return Err("unknown escape"),
        }
    }
    Ok(out)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64_encode(bytes: &[u8]) -> String {
    let mut out = String::new();
    // 57 bytes make a line of 76 characters, as mail does it.
    for line in bytes.chunks(57) {
        for group in line.chunks(3) {
            let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
                << (8 * (3 - group.len()));
            for place in 0..4 {
                if place > group.len() {
                    out.push('=');
                } else {
                    out.push(char::from(ALPHABET[(word >> (18 - 6 * place) & 63) as usize]));
                }
            }
        }
        out.push('\n');
    }
    out
}

fn base64_decode(body: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::new();
    let (mut word, mut bits) = (0u32, 0);
    for byte in body.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = ALPHABET.iter().position(|c| *c == byte).ok_or("not base64")?;
        word = word << 6 | u32::try_from(digit).map_err(|_| "not base64")?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.extend(u8::try_from(word >> bits & 255));
        }
    }
    Ok(out)
}
