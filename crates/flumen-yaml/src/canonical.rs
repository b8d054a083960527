//! What a scalar means, as opposed to how it is spelled.

use std::borrow::Cow;

use crate::{
    Map, Node, Scalar, Style, Tag, Unprintable, Value,
    number::{float_value, int_value, push_json_float},
    timestamp::Timestamp,
};

/// The value of a scalar: two scalars that read the same are equal here.
#[derive(Clone, Debug, PartialEq)]
pub enum Canonical<'a> {
    Null,
    Bool(bool),
    /// Between `i64::MIN` and `u64::MAX`.
    Int(i128),
    /// Finite.
    Float(f64),
    /// A string, also one that was spelled as a timestamp or in base 64.
    Str(Cow<'a, str>),
}

/// The meaning of a scalar, or why it has none that could be printed.
pub fn canonical(scalar: &Scalar) -> Result<Canonical<'_>, Unprintable> {
    let text = scalar.text.as_str();
    let mistagged = || Unprintable::Mistagged { tag: scalar.tag, text: text.to_owned() };
    match scalar.tag {
        Tag::Str | Tag::Merge => Ok(Canonical::Str(Cow::Borrowed(text))),
        // Read as nothing in a flow collection; see the composer.
        Tag::Null if scalar.style == Style::SingleQuoted => Ok(Canonical::Str(Cow::Borrowed(""))),
        Tag::Null => Ok(Canonical::Null),
        Tag::Bool => match text {
            "true" | "True" | "TRUE" => Ok(Canonical::Bool(true)),
            "false" | "False" | "FALSE" => Ok(Canonical::Bool(false)),
            _ => Err(mistagged()),
        },
        Tag::Int => int_value(text).map(Canonical::Int).ok_or_else(mistagged),
        Tag::Float => float(text).ok_or_else(mistagged)?,
        Tag::Timestamp => {
            let time = Timestamp::parse(text).ok_or_else(mistagged)?;
            let text = time.rfc3339().ok_or(Unprintable::TimeZone)?;
            Ok(Canonical::Str(Cow::Owned(text)))
        }
        Tag::Binary => decode_base64(text)
            .map(|text| Canonical::Str(Cow::Owned(text)))
            .ok_or(Unprintable::Base64),
    }
}

fn float<'a>(text: &str) -> Option<Result<Canonical<'a>, Unprintable>> {
    // An explicit `!!float` may stand before an integer in any notation.
    #[expect(clippy::cast_precision_loss, reason = "the value is asked for as a float")]
    let value = float_value(text).or_else(|| int_value(text).map(|value| value as f64))?;
    Some(if value.is_nan() {
        Err(Unprintable::NotFinite("NaN"))
    } else if value.is_infinite() {
        Err(Unprintable::NotFinite(if value > 0.0 { "+Inf" } else { "-Inf" }))
    } else {
        Ok(Canonical::Float(value))
    })
}

/// Whether two trees stand for the same JSON: numbers compare by value, mappings without order.
pub fn same_value(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Scalar(a), Value::Scalar(b)) => same_scalar(a, b),
        (Value::Seq(a), Value::Seq(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Map(a), Value::Map(b)) => same_map(a, b),
        _ => false,
    }
}

fn same_scalar(a: &Scalar, b: &Scalar) -> bool {
    if a.tag == b.tag && a.text == b.text {
        return true;
    }
    match (canonical(a), canonical(b)) {
        (Ok(Canonical::Int(int)), Ok(Canonical::Float(float)))
        | (Ok(Canonical::Float(float)), Ok(Canonical::Int(int))) => int_equals_float(int, float),
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Whether both are the same JSON. The digits of a large float are not its exact value, but it is
/// the digits that will be read again.
fn int_equals_float(int: i128, float: f64) -> bool {
    let mut digits = Vec::with_capacity(24);
    push_json_float(&mut digits, float);
    digits == int.to_string().as_bytes() || int == 0 && float == 0.0
}

fn same_map(a: &Map, b: &Map) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.iter().zip(b).all(|(a, b)| a.key == b.key) {
        return a.iter().zip(b).all(|(a, b)| same_value(&a.value, &b.value));
    }
    let sorted = |map: &Map| {
        let mut indices: Vec<usize> = (0..map.len()).collect();
        indices.sort_by_key(|&index| &map.entries()[index].key);
        indices
    };
    sorted(a).into_iter().zip(sorted(b)).all(|(in_a, in_b)| {
        let (a, b) = (&a.entries()[in_a], &b.entries()[in_b]);
        a.key == b.key && same_value(&a.value, &b.value)
    })
}

/// Decodes padded base 64, as Go does: line breaks are ignored, bytes that are no UTF-8 are replaced.
pub(crate) fn decode_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut digits, mut padding) = (0u32, 0, 0);
    for byte in text.bytes() {
        let digit = match byte {
            b'\n' | b'\r' => continue,
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if digits >= 2 && digits + padding < 4 => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        group = group << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            bytes.extend_from_slice(&group.to_be_bytes()[1..]);
            (group, digits) = (0, 0);
        }
    }
    match (digits, padding) {
        (0, 0) => {}
        (2, 2) => bytes.extend_from_slice(&(group << 12).to_be_bytes()[1..2]),
        (3, 1) => bytes.extend_from_slice(&(group << 6).to_be_bytes()[1..3]),
        _ => return None,
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;

    #[test]
    fn base64_is_strict_about_padding() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(decode_base64(text).as_deref(), expected, "{text}");
        };
        check("aGVsbG8=", Some("hello"));
        check("aGVs\nbG8h\n", Some("hello!"));
        check("aA==", Some("h"));
        check("", Some(""));
        check("/////w==", Some("\u{fffd}\u{fffd}\u{fffd}\u{fffd}"));
        check("aGVs bG8=", None);
        check("aGVsbG8", None);
        check("aA=", None);
        check("aA===", None);
        check("aA==aA==", None);
        check("=", None);
    }

    #[test]
    fn numbers_are_the_same_by_value() {
        let check = |a: (&str, Tag), b: (&str, Tag), same: bool| {
            let (left, right) = (Node::scalar(a.0, a.1), Node::scalar(b.0, b.1));
            assert_eq!(same_value(&left, &right), same, "{a:?} {b:?}");
            assert_eq!(same_value(&right, &left), same, "{b:?} {a:?}");
        };
        check(("1", Tag::Int), ("0x1", Tag::Int), true);
        check(("1", Tag::Int), ("1.0", Tag::Float), true);
        check(("1", Tag::Int), ("1", Tag::Str), false);
        check(("9007199254740993", Tag::Int), ("9007199254740992.0", Tag::Float), false);
        check(("2306000000210000000", Tag::Int), ("2306000000.21e9", Tag::Float), true);
        check(("0", Tag::Int), ("-0.0", Tag::Float), true);
        check(("True", Tag::Bool), ("true", Tag::Bool), true);
        check(("~", Tag::Null), ("", Tag::Null), true);
        check(("2001-01-01", Tag::Timestamp), ("2001-01-01T00:00:00Z", Tag::Str), true);
        check((".nan", Tag::Float), (".NaN", Tag::Float), false);
    }

    #[test]
    fn mappings_are_the_same_in_any_order() {
        let map = |keys: &[&str]| {
            let entries = keys.iter().map(|&key| Entry::new(key, Node::string(key)));
            Node::new(crate::Pos::default(), Value::Map(entries.collect()))
        };
        assert!(same_value(&map(&["a", "b"]), &map(&["b", "a"])));
        assert!(!same_value(&map(&["a", "b"]), &map(&["b", "c"])));
        assert!(!same_value(&map(&["a", "b"]), &map(&["a"])));
        assert!(!same_value(&map(&[]), &Node::seq(Vec::new())));
    }
}
