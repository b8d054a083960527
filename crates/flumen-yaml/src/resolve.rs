//! What a plain scalar means, by the rules of go-yaml v3.
//!
//! They are YAML 1.2's with leftovers of 1.1: `0777` is octal, `1_000` is a number, dates are
//! timestamps, while `yes`, `no`, `on` and `off` are strings.

use crate::{
    Node, Pos, Style, Tag, Text, Value,
    canonical::decode_base64,
    node::Scalar,
    number::{float_value, int_value},
    timestamp::Timestamp,
};

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// The tag that a plain scalar without an explicit one has.
pub fn resolve(plain: &str) -> Tag {
    let Some(&first) = plain.as_bytes().first() else { return Tag::Null };
    match first {
        b'0'..=b'9' if plain.as_bytes().get(4) == Some(&b'-') => {
            if Timestamp::parse(plain).is_some() { Tag::Timestamp } else { resolve_number(plain) }
        }
        b'0'..=b'9' | b'+' | b'-' | b'.' => resolve_number(plain),
        b't' | b'T' | b'f' | b'F' => match plain {
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Tag::Bool,
            _ => Tag::Str,
        },
        b'n' | b'N' if matches!(plain, "null" | "Null" | "NULL") => Tag::Null,
        b'~' if plain.len() == 1 => Tag::Null,
        b'<' if plain == "<<" => Tag::Merge,
        _ => Tag::Str,
    }
}

fn resolve_number(text: &str) -> Tag {
    if int_value(text).is_some() {
        Tag::Int
    } else if float_value(text).is_some() {
        Tag::Float
    } else {
        Tag::Str
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
        "binary" if decode_base64(text).is_some() => return Ok(Tag::Binary),
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
    // An integer is a float too, if it is one that Go keeps in a signed type.
    let fits = found == wanted
        || wanted == Tag::Float && int_value(text).is_some_and(|int| i64::try_from(int).is_ok());
    if fits {
        return Ok(wanted);
    }
    Err(format!("cannot decode !!{} `{text}` as a !!{short}", name(found)))
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

impl Node {
    /// A plain scalar that means what it would mean in a file.
    pub fn plain(text: impl Into<Text>) -> Self {
        let text = text.into();
        let tag = resolve(&text);
        let scalar = Scalar { text, tag, style: Style::Plain };
        Self::new(Pos::default(), Value::Scalar(scalar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tag: Tag, texts: &[&str]) {
        for text in texts {
            assert_eq!(resolve(text), tag, "{text:?}");
            assert_eq!(Node::plain(*text).as_scalar().map(|scalar| scalar.tag), Some(tag));
        }
    }

    #[test]
    fn words() {
        check(Tag::Null, &["", "~", "null", "Null", "NULL"]);
        check(Tag::Bool, &["true", "True", "TRUE", "false", "False", "FALSE"]);
        check(Tag::Merge, &["<<"]);
        check(Tag::Str, &["yes", "no", "on", "off", "y", "N", "nULL", "tRUE", "~~", "<", "a"]);
    }

    #[test]
    fn numbers() {
        check(Tag::Int, &["0", "-1", "+1", "1_000", "0x1F", "0b101", "0o17", "0777", "-0x1", "1_"]);
        check(Tag::Int, &["18446744073709551615", "-9223372036854775808", "0b-1"]);
        check(
            Tag::Float,
            &["1.5", "1.", ".5", "1e3", "-1E-3", "08", "+.5", "18446744073709551616"],
        );
        check(Tag::Float, &[".inf", "-.INF", "+.Inf", ".nan", ".NaN"]);
        check(Tag::Str, &["1e400", "0x", "0x1.8p1", "-", "+", ".", "1:30", "1 ", "-.nan", "._5"]);
        check(Tag::Str, &["-9223372036854775809_x", "12e", "1.2.3"]);
    }

    #[test]
    fn timestamps() {
        check(Tag::Timestamp, &["2020-01-02", "2020-1-2", "2020-01-02T03:04:05Z"]);
        check(Tag::Timestamp, &["2020-1-2t3:4:5.6+02:00", "2020-01-02   03:04:05", "2024-02-29"]);
        check(Tag::Str, &["2023-02-29", "2020-13-01", "2020-01-02T03:04:05", "02020-01-02"]);
        check(Tag::Str, &["2020-01-02 03:04:05Z", "2020-01-02T24:00:00Z", "2020-01"]);
    }

    #[test]
    fn explicit_tags() {
        let check = |tag: &str, text: &str, expected: Result<Tag, &str>| {
            let long = format!("tag:yaml.org,2002:{tag}");
            let expected = expected.map_err(str::to_owned);
            assert_eq!(resolve_tagged(&long, text), expected, "{tag} {text}");
        };
        check("int", "3", Ok(Tag::Int));
        check("int", "foo", Err("cannot decode !!str `foo` as a !!int"));
        check("int", "1.5", Err("cannot decode !!float `1.5` as a !!int"));
        check("int", "2020-01-02", Err("cannot decode !!str `2020-01-02` as a !!int"));
        check("float", "3", Ok(Tag::Float));
        check(
            "float",
            "9223372036854775808",
            Err("cannot decode !!int `9223372036854775808` as a !!float"),
        );
        check("bool", "yes", Err("cannot decode !!str `yes` as a !!bool"));
        check("null", "", Ok(Tag::Null));
        check("null", "x", Err("cannot decode !!str `x` as a !!null"));
        check("timestamp", "2020-01-02", Ok(Tag::Timestamp));
        check("timestamp", "3", Err("cannot decode !!int `3` as a !!timestamp"));
        check("binary", "aGk=", Ok(Tag::Binary));
        check("binary", "a", Err("!!binary value contains invalid base64 data"));
        check("str", "3", Ok(Tag::Str));
        check("python/none", "3", Ok(Tag::Str));
        assert_eq!(resolve_tagged("!own", "3"), Ok(Tag::Str));
    }
}
