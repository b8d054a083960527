//! The form a tree has after a passage through JSON.
//!
//! kustomize applies JSON patches to JSON. What comes back is spelled differently: numbers in Go's
//! shortest notation, times as strings. It is the same when printed, but not for those who read the
//! text of a scalar before that: replacements, variables, selectors.

use flumen_yaml::{Canonical, Node, Scalar, Style, Tag, Text, Value, canonical};

use crate::go_float::shortest;

pub(super) fn normalise(node: &mut Node) {
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().for_each(normalise),
        Value::Map(map) => map.iter_mut().for_each(|entry| normalise(&mut entry.value)),
        Value::Scalar(scalar) => normalise_scalar(scalar),
    }
}

fn normalise_scalar(scalar: &mut Scalar) {
    let (text, tag) = match canonical(scalar) {
        Ok(Canonical::Null) => (Text::literal("null"), Tag::Null),
        Ok(Canonical::Bool(value)) => {
            (Text::literal(if value { "true" } else { "false" }), Tag::Bool)
        }
        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are floats in Go")]
        Ok(Canonical::Int(value)) => number(value as f64),
        Ok(Canonical::Float(value)) => number(value),
        Ok(Canonical::Str(text)) => match scalar.tag {
            Tag::Str => return,
            _ => (Text::from(&*text), Tag::Str),
        },
        // It cannot be printed either, and printing says so with the field's name.
        Err(_) => return,
    };
    *scalar = Scalar { text, tag, style: Style::Plain };
}

fn number(value: f64) -> (Text, Tag) {
    let text = shortest(value);
    let tag = if text.contains(['.', 'e']) { Tag::Float } else { Tag::Int };
    (Text::from(text), tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tag: Tag, expected: &str, expected_tag: Tag) {
        let mut node = Node::scalar(text, tag);
        normalise(&mut node);
        let scalar = node.as_scalar().expect("a scalar stays one");
        assert_eq!((scalar.text.as_str(), scalar.tag), (expected, expected_tag));
    }

    #[test]
    fn numbers_are_spelled_as_go_spells_floats() {
        check("8080", Tag::Int, "8080", Tag::Int);
        check("999999", Tag::Int, "999999", Tag::Int);
        check("1000000", Tag::Int, "1e+06", Tag::Float);
        check("1234567", Tag::Int, "1.234567e+06", Tag::Float);
        check("0x10", Tag::Int, "16", Tag::Int);
        check("1.0", Tag::Float, "1", Tag::Int);
        check("0.00001", Tag::Float, "1e-05", Tag::Float);
        check("-0.5", Tag::Float, "-0.5", Tag::Float);
    }

    #[test]
    fn other_scalars_get_their_plain_form() {
        check("~", Tag::Null, "null", Tag::Null);
        check("True", Tag::Bool, "true", Tag::Bool);
        check("2020-01-01", Tag::Timestamp, "2020-01-01T00:00:00Z", Tag::Str);
        check("text", Tag::Str, "text", Tag::Str);
    }
}
