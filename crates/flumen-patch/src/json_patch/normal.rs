//! What the passage through JSON does to an object.
//!
//! Kustomize encodes the object as JSON, decodes it with every number as a float, and prints and
//! reads that as YAML. Most of it cannot be seen later. What can: integers beyond 2⁵³ are rounded,
//! a million is spelled `1e+06` when a replacement copies its text, a key without value is null,
//! timestamps are strings, and strings lose quotes that they do not need, which a later merge sees.

use std::borrow::Cow;

use flumen_yaml::{Canonical, Node, Scalar, Style, Tag, Text, Value, canonical, resolve};

use crate::Error;

/// Leaves `node` as it would be read back.
pub(super) fn normalise(node: &mut Node) -> Result<(), Error> {
    match &mut node.value {
        Value::Map(map) => map.iter_mut().try_for_each(|entry| normalise(&mut entry.value)),
        Value::Seq(items) => items.iter_mut().try_for_each(normalise),
        Value::Scalar(scalar) => normalise_scalar(scalar)
            .map_err(|problem| Error::DoesNotApply { message: problem.to_string(), pos: node.pos }),
    }
}

fn normalise_scalar(scalar: &mut Scalar) -> Result<(), flumen_yaml::Unprintable> {
    // By far the most common scalars stay as they are.
    if scalar.tag == Tag::Str && scalar.style == Style::Plain {
        return Ok(());
    }
    let (text, tag) = match canonical(scalar)? {
        Canonical::Null => (Cow::Borrowed("null"), Tag::Null),
        Canonical::Bool(true) => (Cow::Borrowed("true"), Tag::Bool),
        Canonical::Bool(false) => (Cow::Borrowed("false"), Tag::Bool),
        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are floats here")]
        Canonical::Int(value) => number(value as f64),
        Canonical::Float(value) => number(value),
        Canonical::Str(text) => {
            let style = if is_plain(&text) { Style::Plain } else { Style::DoubleQuoted };
            let text = match text {
                Cow::Owned(text) if text != scalar.text.as_str() => Some(text),
                _ => None,
            };
            if let Some(text) = text {
                scalar.text = Text::from(text);
            }
            (scalar.tag, scalar.style) = (Tag::Str, style);
            return Ok(());
        }
    };
    if scalar.text != *text {
        scalar.text = Text::from(&*text);
    }
    (scalar.tag, scalar.style) = (tag, Style::Plain);
    Ok(())
}

/// A float as Go's `%g` prints it, and whether it reads as an integer.
fn number(value: f64) -> (Cow<'static, str>, Tag) {
    let scientific = format!("{value:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if !(-4..6).contains(&power) {
        return (Cow::Owned(format!("{digits}e{power:+03}")), Tag::Float);
    }
    let text = format!("{value}");
    let tag = if text.contains('.') { Tag::Float } else { Tag::Int };
    (Cow::Owned(text), tag)
}

/// Whether go-yaml v3 writes a string without quotes. Strings with unusual characters are not
/// looked at closely: for them the answer is no.
fn is_plain(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_./@+-=,: ".contains(&byte);
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphanumeric() || b"_./+".contains(&first))
        && bytes.all(is_usual)
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !is_old_bool(text)
        && resolve(text) == Tag::Str
}

/// Booleans of YAML 1.1, which every writer puts in quotes.
fn is_old_bool(text: &str) -> bool {
    ["y", "n", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Node, Scalar, Style, Tag, Text, Value};

    use super::normalise;

    #[track_caller]
    fn check(text: &str, tag: Tag, style: Style, expected: (&str, Tag, Style)) {
        let scalar = Scalar { text: Text::from(text), tag, style };
        let mut node = Node::string("");
        node.value = Value::Scalar(scalar);
        normalise(&mut node).expect("JSON can have it");
        let scalar = node.as_scalar().expect("a scalar");
        assert_eq!((scalar.text.as_str(), scalar.tag, scalar.style), expected, "{text}");
    }

    #[test]
    fn numbers_are_floats() {
        for (text, tag, expected) in [
            ("5", Tag::Int, ("5", Tag::Int)),
            ("999999", Tag::Int, ("999999", Tag::Int)),
            ("1000000", Tag::Int, ("1e+06", Tag::Float)),
            ("-8388608", Tag::Int, ("-8.388608e+06", Tag::Float)),
            ("9007199254740993", Tag::Int, ("9.007199254740992e+15", Tag::Float)),
            ("0x1F", Tag::Int, ("31", Tag::Int)),
            ("1.0", Tag::Float, ("1", Tag::Int)),
            ("1.50", Tag::Float, ("1.5", Tag::Float)),
            ("0.00001", Tag::Float, ("1e-05", Tag::Float)),
            ("0.0001", Tag::Float, ("0.0001", Tag::Float)),
            ("1e30", Tag::Float, ("1e+30", Tag::Float)),
        ] {
            check(text, tag, Style::Plain, (expected.0, expected.1, Style::Plain));
        }
    }

    #[test]
    fn strings_lose_needless_quotes() {
        let plain = |text| (text, Tag::Str, Style::Plain);
        let quoted = |text| (text, Tag::Str, Style::DoubleQuoted);
        for (text, expected) in [
            ("nginx:1.2", plain("nginx:1.2")),
            ("two words", plain("two words")),
            ("5", quoted("5")),
            ("yes", quoted("yes")),
            ("", quoted("")),
            ("a: b", quoted("a: b")),
            ("- a", quoted("- a")),
        ] {
            check(text, Tag::Str, Style::SingleQuoted, expected);
        }
        check("2020-01-01", Tag::Timestamp, Style::Plain, quoted("2020-01-01T00:00:00Z"));
    }

    #[test]
    fn nulls_are_spelled_out() {
        check("", Tag::Null, Style::Plain, ("null", Tag::Null, Style::Plain));
        check("~", Tag::Null, Style::Plain, ("null", Tag::Null, Style::Plain));
        check("TRUE", Tag::Bool, Style::Plain, ("true", Tag::Bool, Style::Plain));
    }
}
