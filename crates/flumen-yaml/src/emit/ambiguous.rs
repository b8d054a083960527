//! Strings that a reader would take for something else if they stood there without quotes.
//!
//! The reader in question is go-yaml v2, an heir of YAML 1.1: `yes`, `on` and `12:30` are no
//! strings to it.

use crate::{
    number::{decimal_float, is_old_int, underscores_separate_digits},
    timestamp::Timestamp,
};

/// Whether `text`, printed plain, would not be read as a string.
pub(crate) fn is_ambiguous(text: &str) -> bool {
    match text.as_bytes() {
        [] => true,
        // The length is checked first: most strings that start so are words, not these words.
        &[first, ..] if starts_keyword(first) => text.len() <= MAX_KEYWORD && is_keyword(text),
        [b'.', ..] => {
            is_special_float(text)
                || underscores_separate_digits(text) && decimal_float(&bare(text)).is_some()
        }
        [b'0'..=b'9' | b'+' | b'-', ..] => looks_numeric(text),
        _ => false,
    }
}

/// The length of `false`.
pub(crate) const MAX_KEYWORD: usize = 5;

/// Whether a word that starts so may be one of the words that mean a boolean or null.
pub(crate) fn starts_keyword(first: u8) -> bool {
    matches!(first, b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~')
}

fn is_keyword(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "on"
            | "On"
            | "ON"
            | "off"
            | "Off"
            | "OFF"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "null"
            | "Null"
            | "NULL"
            | "~"
    )
}

fn is_special_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn looks_numeric(text: &str) -> bool {
    // Nothing numeric has other characters, and names like `10-foo` or `--flag` are common.
    let may_be_numeric = |byte: u8| {
        byte.is_ascii_hexdigit()
            || matches!(byte, b'+' | b'-' | b'.' | b',' | b':' | b'_' | b' ')
            || matches!(byte, b'x' | b'X' | b'o' | b'O' | b't' | b'T' | b'Z')
            || matches!(byte, b'i' | b'I' | b'n' | b'N')
    };
    if !text.bytes().all(may_be_numeric) {
        return false;
    }
    if is_special_float(text) || Timestamp::parse(text).is_some() || is_base60(text) {
        return true;
    }
    let bare = bare(text);
    is_old_int(&bare) || decimal_float(&bare).is_some()
}

fn bare(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// Sexagesimal numbers such as `190:20:30.15`: `[-+]? digit [digit_]* (: [0-5]? digit)+ (\. [digit_]*)?`
fn is_base60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let (places, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut places = places.split(':');
    let leading = places.next().unwrap_or_default();
    let mut sixties = places.peekable();
    leading.starts_with(|first: char| first.is_ascii_digit())
        && is_digits(leading)
        && is_digits(fraction)
        && sixties.peek().is_some()
        && sixties
            .all(|place| matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, texts: &[&str]) {
        for text in texts {
            assert_eq!(is_ambiguous(text), expected, "{text}");
        }
    }

    #[test]
    fn words_of_yaml_1_1() {
        check(true, &["", "~", "y", "No", "ON", "off", "true", "NULL", ".inf", "-.Inf", ".NaN"]);
        check(false, &["yEs", "nO", "nope", "<<", "=", "nan", "inf", "-.nan", "+.NaN", "truee"]);
    }

    #[test]
    fn numbers() {
        check(true, &["0", "-1", "+1", "1_000", "0x1f", "0b1", "0b-1", "0o17", "08", "1.", ".5"]);
        check(true, &["1e3", "1E+5", "-.5", ".5_0", "12:30", "190:20:30.15", "-1:0", "1_:5", "0_"]);
        check(
            false,
            &["1e", "1e400", "0o-7", "0x", "_1", "._5", "12:60", "1:300", ":30", "1:", "+"],
        );
        check(
            false,
            &["1.2.3", "10.0.0.1", "100Mi", "10m", "--flag", "-", "-c", ".", "...", "0x1p4"],
        );
    }

    #[test]
    fn timestamps() {
        check(true, &["2001-01-01", "2001-1-1 1:2:3", "2001-12-14t21:59:43.10-05:00"]);
        check(false, &["2001-02-30", "2001-01", "01-01-2001"]);
    }
}
