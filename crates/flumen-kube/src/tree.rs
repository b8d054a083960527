//! From the text of an answer to a tree.
//!
//! The tree shares the text: a string without escapes is a slice of it. An object that is kept keeps
//! the answer that it came in.

use std::fmt;

use arcstr::ArcStr;
use flumen_yaml::{Entry, Map, Node, Pos, Tag, Text, Value};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Reads one JSON value. The reader takes no more than 128 levels, so recursion is bounded.
pub(crate) fn read(text: &ArcStr) -> Result<Node, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let node = Seed(text).deserialize(&mut json)?;
    json.end()?;
    Ok(node)
}

#[derive(Clone, Copy)]
struct Seed<'a>(&'a ArcStr);

impl Seed<'_> {
    fn text(self, part: &str) -> Text {
        let start = (part.as_ptr() as usize).wrapping_sub(self.0.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= self.0.len() => Text::slice(self.0, start..end),
            _ => Text::from(part),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Node, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::scalar(Text::literal(if value { "true" } else { "false" }), Tag::Bool))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::scalar(value.to_string(), Tag::Int))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::scalar(value.to_string(), Tag::Int))
    }

    /// Debug and not Display: a float stays one when its text is read again.
    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::scalar(format!("{value:?}"), Tag::Float))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Node, E> {
        Ok(Node::string(self.text(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::string(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Node::seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key_seed(self)? {
            let Value::Scalar(key) = key.value else {
                return Err(A::Error::custom("a key is no string"));
            };
            entries.push(Entry::new(key.text, map.next_value_seed(self)?));
        }
        entries.shrink_to_fit();
        Ok(Node::new(Pos::default(), Value::Map(Map::from(entries))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str) -> Node {
        let node = read(&ArcStr::from(json)).expect("JSON");
        assert_eq!(flumen_yaml::to_json(&node).as_deref(), Ok(json));
        node
    }

    #[test]
    fn values_come_back_as_they_went() {
        check(r#"{"a":null,"b":[true,false],"c":{},"d":[],"e":"","f":"x\ny","ä":"ö"}"#);
        check(r#"{"max":18446744073709551615,"min":-9223372036854775808,"zero":0}"#);
        check(r#"{"large":1e+300,"quarter":0.25,"small":1e-7}"#);
    }

    #[test]
    fn whole_floats_stay_floats() {
        let node = read(&ArcStr::from("[1.0, 1, 1e3]")).expect("JSON");
        let tags: Vec<_> = node
            .as_seq()
            .expect("a list")
            .iter()
            .map(|item| {
                let scalar = item.as_scalar().expect("a scalar");
                (scalar.text.as_str(), scalar.tag)
            })
            .collect();
        assert_eq!(tags, [("1.0", Tag::Float), ("1", Tag::Int), ("1000.0", Tag::Float)]);
    }

    #[test]
    fn strings_that_look_like_something_else_stay_strings() {
        let node = check(r#"{"a":"1","b":"true","c":"null"}"#);
        for entry in node.as_map().expect("a mapping") {
            assert_eq!(entry.value.as_scalar().expect("a scalar").tag, Tag::Str);
        }
    }

    #[test]
    fn plain_strings_share_the_text() {
        let text = ArcStr::from(r#"{"key":"value"}"#);
        let node = read(&text).expect("JSON");
        let value = node.get("key").and_then(Node::as_str).expect("a string");
        assert_eq!(value.as_ptr(), text[8..].as_ptr());
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_refused() {
        for text in ["", "{", "{\"a\":}", "nul", "1 2", "{\"a\":1}x"] {
            assert!(read(&ArcStr::from(text)).is_err(), "{text}");
        }
        let deep = |levels: usize| ArcStr::from("[".repeat(levels) + &"]".repeat(levels));
        assert!(read(&deep(120)).is_ok());
        assert!(read(&deep(100_000)).is_err());
    }
}
