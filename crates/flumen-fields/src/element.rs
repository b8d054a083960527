//! One step into a value, as sets of fields have it.

use std::{cmp::Ordering, fmt, sync::Arc};

use serde_json::{Deserializer, Value};

use crate::{
    go,
    order::{Numeric, order},
};

/// Copies share what they hold: sets are combined far more often than they are made.
#[derive(Clone, Debug)]
pub enum Element {
    /// A field of a struct or an entry of a map.
    Field(Arc<str>),
    /// An item of a list, told by some of its fields; ordered by name.
    Key(Arc<[(Arc<str>, Value)]>),
    /// An item of a set, told by itself.
    Value(Arc<Value>),
    Index(i64),
}

impl Element {
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(Arc::from(name))
    }

    /// The name of the field that this is.
    pub(crate) fn as_field(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) const fn is_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let pairs = a.iter().zip(b.iter());
                let unequal = pairs
                    .map(|((na, va), (nb, vb))| na.cmp(nb).then_with(|| order(va, vb)))
                    .find(|order| order.is_ne());
                unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => order(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Element {}

/// As messages name it: `.spec`, `[name="app"]`, `[="x"]`, `[0]`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                f.write_str("[")?;
                for (n, (name, value)) in fields.iter().enumerate() {
                    if n > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{name}={}", shown(value))?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={}]", shown(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => go::shortest(Numeric::of(number)),
        Value::String(text) => go::quote(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(","))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| format!("{key}={}", shown(value)));
            fields.collect::<Vec<_>>().concat()
        }
    }
}

/// What is wrong with the text of an element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElementError {
    #[error("key must be 2 characters long:")]
    Short,
    #[error("missing colon: {0}")]
    Colon(String),
    #[error("{0}")]
    Json(String),
    #[error("strconv.Atoi: parsing {}: invalid syntax", go::quote(.0))]
    Index(String),
}

/// Reads an element from a key of `fieldsV1`; none if its kind is not known, which is to be ignored.
pub(crate) fn parse(text: &str) -> Result<Option<Element>, ElementError> {
    let bytes = text.as_bytes();
    if bytes.len() < 2 {
        return Err(ElementError::Short);
    }
    if bytes[1] != b':' {
        return Err(ElementError::Colon(text.to_owned()));
    }
    let rest = &text[2..];
    Ok(Some(match bytes[0] {
        b'f' => Element::field(rest),
        b'v' => Element::Value(Arc::new(first_json(rest)?)),
        b'k' => {
            let Value::Object(fields) = first_json(rest)? else {
                return Err(ElementError::Json("expected { or n".to_owned()));
            };
            Element::Key(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
        }
        b'i' => {
            let index = rest.parse().map_err(|_| ElementError::Index(rest.to_owned()))?;
            Element::Index(index)
        }
        _ => return Ok(None),
    }))
}

/// The first JSON document of a text; what follows it is not looked at.
fn first_json(text: &str) -> Result<Value, ElementError> {
    let mut documents = Deserializer::from_str(text).into_iter::<Value>();
    match documents.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(ElementError::Json(error.to_string())),
        None => Err(ElementError::Json("unexpected end of JSON input".to_owned())),
    }
}

/// The key of `fieldsV1` that stands for an element.
pub(crate) fn text_of(element: &Element) -> String {
    let mut out = String::new();
    match element {
        Element::Field(name) => {
            out.reserve_exact(name.len() + 2);
            out.push_str("f:");
            out.push_str(name);
        }
        Element::Key(fields) => {
            out.push_str("k:{");
            for (n, (name, value)) in fields.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                push_json_string(&mut out, name, false);
                out.push(':');
                push_json(&mut out, value);
            }
            out.push('}');
        }
        Element::Value(value) => {
            out.push_str("v:");
            push_json(&mut out, value);
        }
        Element::Index(index) => {
            out.push_str("i:");
            out.push_str(&index.to_string());
        }
    }
    out
}

fn push_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&go::json_number(Numeric::of(number))),
        Value::String(text) => push_json_string(out, text, true),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                push_json(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (n, (key, value)) in map.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                push_json_string(out, key, true);
                out.push(':');
                push_json(out, value);
            }
            out.push('}');
        }
    }
}

/// Strings are escaped here as the API server does, because the escapes are part of the key: two
/// servers must name one item alike.
fn push_json_string(out: &mut String, text: &str, for_html: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if for_html => go::push_escape(out, c),
            c if c < ' ' => go::push_escape(out, c),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Element, ElementError, parse, text_of};

    fn key(fields: &[(&str, serde_json::Value)]) -> Element {
        Element::Key(fields.iter().map(|(name, value)| ((*name).into(), value.clone())).collect())
    }

    #[test]
    fn elements_are_written_and_read() {
        for (element, text, shown) in [
            (Element::field("a.b/c"), "f:a.b/c", ".a.b/c"),
            (
                key(&[("port", json!(80)), ("protocol", json!("TCP"))]),
                r#"k:{"port":80,"protocol":"TCP"}"#,
                r#"[port=80,protocol="TCP"]"#,
            ),
            (Element::Value(Arc::new(json!("a<b"))), r#"v:"a\u003cb""#, r#"[="a<b"]"#),
            (Element::Value(Arc::new(json!(true))), "v:true", "[=true]"),
            (Element::Value(Arc::new(json!(1.5))), "v:1.5", "[=1.5]"),
            (Element::Index(3), "i:3", "[3]"),
        ] {
            assert_eq!(text_of(&element), text);
            assert_eq!(element.to_string(), shown);
            assert_eq!(parse(text), Ok(Some(element)));
        }
    }

    #[test]
    fn unknown_kinds_are_ignored_and_broken_text_is_an_error() {
        assert_eq!(parse("x:a"), Ok(None));
        assert_eq!(parse("f"), Err(ElementError::Short));
        assert_eq!(parse("ff"), Err(ElementError::Colon("ff".to_owned())));
        assert_eq!(parse("ü"), Err(ElementError::Colon("ü".to_owned())));
        for text in ["v:", "v:{", "k:1", "k:{", "i:x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn elements_are_ordered_by_kind_then_value() {
        let sorted = [
            Element::field("a"),
            Element::field("b"),
            key(&[("name", json!("a"))]),
            key(&[("name", json!("a")), ("port", json!(9))]),
            key(&[("name", json!("a")), ("port", json!(10))]),
            Element::Value(Arc::new(json!(2))),
            Element::Value(Arc::new(json!("a"))),
            Element::Index(0),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
    }
}
