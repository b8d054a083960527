//! What a plain scalar means, by the rules of go-yaml v3.
//!
//! They are YAML 1.2's with leftovers of 1.1: `0777` is octal, `1_000` is a number, dates are
//! timestamps, while `yes`, `no`, `on` and `off` are strings.

mod number;
mod timestamp;

use std::borrow::Cow;

use crate::{Node, Style, Tag, Text, Value, node::Scalar};
use number::{is_finite_float, is_integer};
use timestamp::is_timestamp;

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// The tag that a plain scalar without an explicit one has.
pub fn resolve(plain: &str) -> Tag {
    let Some(&first) = plain.as_bytes().first() else { return Tag::Null };
    match first {
        b'0'..=b'9' | b'+' | b'-' => {
            if is_timestamp(plain) {
                Tag::Timestamp
            } else {
                resolve_number(plain)
            }
        }
        b't' | b'T' | b'f' | b'F' => match plain {
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Tag::Bool,
            _ => Tag::Str,
        },
        b'n' | b'N' if matches!(plain, "null" | "Null" | "NULL") => Tag::Null,
        b'~' if plain.len() == 1 => Tag::Null,
        b'.' => resolve_point(plain),
        b'<' if plain == "<<" => Tag::Merge,
        _ => Tag::Str,
    }
}

fn resolve_number(text: &str) -> Tag {
    if matches!(text, "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF") {
        return Tag::Float;
    }
    let digits = without_underscores(text);
    if is_integer(&digits) {
        Tag::Int
    } else if number::looks_like_float(&digits) && is_finite_float(&digits) {
        Tag::Float
    } else if number::is_based_integer(&digits) {
        Tag::Int
    } else {
        Tag::Str
    }
}

fn resolve_point(text: &str) -> Tag {
    let is_float = matches!(text, ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF")
        || number::is_go_decimal(text) && is_finite_float(text);
    if is_float { Tag::Float } else { Tag::Str }
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    match text.contains('_') {
        true => Cow::Owned(text.replace('_', "")),
        false => Cow::Borrowed(text),
    }
}

/// The tag of a scalar that has an explicit one, or what go-yaml says when the text does not fit.
pub(crate) fn resolve_tagged(tag: &str, text: &str) -> Result<Tag, String> {
    let short = tag.strip_prefix(LONG_PREFIX).or_else(|| tag.strip_prefix("!!")).unwrap_or("");
    let wanted = match short {
        "null" => Tag::Null,
        "bool" => Tag::Bool,
        "int" => Tag::Int,
        "float" => Tag::Float,
        "timestamp" => Tag::Timestamp,
        "binary" if is_base64(text) => return Ok(Tag::Binary),
        "binary" => return Err("!!binary value contains invalid base64 data".to_owned()),
        "merge" if text == "<<" => return Ok(Tag::Merge),
        _ => return Ok(Tag::Str),
    };
    let found = match resolve(text) {
        // An explicit tag other than `!!timestamp` keeps dates from being looked for.
        Tag::Timestamp if wanted != Tag::Timestamp => resolve_number(text),
        Tag::Merge => Tag::Str,
        found => found,
    };
    let fits = found == wanted
        || wanted == Tag::Float
            && found == Tag::Int
            && number::fits_int64(&without_underscores(text));
    match fits {
        true => Ok(wanted),
        false => Err(format!("cannot decode !!{} `{text}` as a !!{short}", name(found))),
    }
}

const fn name(tag: Tag) -> &'static str {
    match tag {
        Tag::Null => "null",
        Tag::Bool => "bool",
        Tag::Int => "int",
        Tag::Float => "float",
        Tag::Str => "str",
        Tag::Timestamp => "timestamp",
        Tag::Binary => "binary",
        Tag::Merge => "merge",
    }
}

/// Standard base64 with padding; line breaks may stand anywhere.
fn is_base64(text: &str) -> bool {
    let bytes = || text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n'));
    let len = bytes().count();
    let padding = bytes().skip(len.saturating_sub(2)).filter(|&byte| byte == b'=').count();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    len % 4 == 0
        && bytes().take(len - padding).all(is_digit)
        && bytes().skip(len - padding).all(|byte| byte == b'=')
}

impl Node {
    /// A plain scalar that means what it would mean in a file.
    pub fn plain(text: impl Into<Text>) -> Self {
        let text = text.into();
        let tag = resolve(&text);
        let scalar = Scalar { text, tag, style: Style::Plain };
        Self::new(crate::Pos::default(), Value::Scalar(scalar))
    }
}

#[cfg(test)]
mod tests;
