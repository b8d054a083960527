//! JSON text as a flat list of tokens, with the words of Go for what is wrong with it.
//!
//! A tree of ten thousand levels would need as much stack to be dropped as to be read. A list needs
//! none, keeps the order and the duplicates of keys, and skips a value in one step.

mod escape;
mod scan;

use std::{borrow::Cow, collections::BTreeSet};

pub(crate) use scan::scan;
use serde_json::{Map, Number, Value};

#[derive(Debug)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    /// As written.
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    /// Items follow, up to this place in the list.
    Array(usize),
    /// Keys, each with its value behind it, up to this place in the list.
    Object(usize),
}

/// One value: the list of its tokens.
#[derive(Debug)]
pub(crate) struct Tape<'a>(Vec<Token<'a>>);

impl<'a> Tape<'a> {
    pub(crate) fn root(&self) -> Node<'_, 'a> {
        Node { tokens: &self.0, place: 0 }
    }

    /// The tokens of a value that was read before.
    pub(crate) fn of(value: &'a Value) -> Self {
        let mut tokens = Vec::new();
        push(&mut tokens, value);
        Self(tokens)
    }
}

fn push<'a>(tokens: &mut Vec<Token<'a>>, value: &'a Value) {
    let start = tokens.len();
    match value {
        Value::Null => tokens.push(Token::Null),
        Value::Bool(value) => tokens.push(Token::Bool(*value)),
        Value::Number(number) => tokens.push(Token::Number(Cow::Owned(number.to_string()))),
        Value::String(text) => tokens.push(Token::String(Cow::Borrowed(text))),
        Value::Array(items) => {
            tokens.push(Token::Array(0));
            for item in items {
                push(tokens, item);
            }
            tokens[start] = Token::Array(tokens.len());
        }
        Value::Object(members) => {
            tokens.push(Token::Object(0));
            for (key, value) in members {
                tokens.push(Token::String(Cow::Borrowed(key)));
                push(tokens, value);
            }
            tokens[start] = Token::Object(tokens.len());
        }
    }
}

/// A value in a [`Tape`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'t, 'a> {
    tokens: &'t [Token<'a>],
    place: usize,
}

impl<'t, 'a> Node<'t, 'a> {
    pub(crate) fn token(self) -> &'t Token<'a> {
        // Every tape has a first token, and places come from the tape itself.
        self.tokens.get(self.place).unwrap_or(&Token::Null)
    }

    pub(crate) fn is_null(self) -> bool {
        matches!(self.token(), Token::Null)
    }

    /// The kind of value, as Go's messages name it.
    pub(crate) fn kind(self) -> &'static str {
        match self.token() {
            Token::Null => "null",
            Token::Bool(_) => "bool",
            Token::Number(_) => "number",
            Token::String(_) => "string",
            Token::Array(_) => "array",
            Token::Object(_) => "object",
        }
    }

    fn end(self) -> usize {
        match self.token() {
            Token::Array(end) | Token::Object(end) => *end,
            _ => self.place + 1,
        }
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let end = if let Token::Array(end) = self.token() { *end } else { 0 };
        let mut next = self.place + 1;
        std::iter::from_fn(move || {
            let item = Self { tokens: self.tokens, place: next };
            (next < end).then(|| next = item.end())?;
            Some(item)
        })
    }

    /// The members of an object, duplicates included; none of anything else.
    pub(crate) fn members(self) -> impl Iterator<Item = (&'t str, Self)> {
        let end = if let Token::Object(end) = self.token() { *end } else { 0 };
        let mut next = self.place + 1;
        std::iter::from_fn(move || {
            let key = Self { tokens: self.tokens, place: next };
            let value = Self { tokens: self.tokens, place: next + 1 };
            (next < end).then(|| next = value.end())?;
            let Token::String(key) = key.token() else { return None };
            Some((key.as_ref(), value))
        })
    }

    /// Whether any object in it has a key twice.
    pub(crate) fn has_duplicates(self) -> bool {
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            let mut seen = BTreeSet::new();
            for (key, value) in node.members() {
                if !seen.insert(key) {
                    return true;
                }
                open.push(value);
            }
            open.extend(node.items());
        }
        false
    }

    /// The value without any type. None if it is nested too deeply.
    pub(crate) fn to_value(self, depth: usize) -> Option<Value> {
        Some(match self.token() {
            Token::Null => Value::Null,
            Token::Bool(value) => Value::Bool(*value),
            Token::Number(text) => Value::Number(number(text)),
            Token::String(text) => Value::String(text.clone().into_owned()),
            Token::Array(_) => {
                let depth = depth.checked_sub(1)?;
                let items: Option<Vec<Value>> =
                    self.items().map(|item| item.to_value(depth)).collect();
                Value::Array(items?)
            }
            Token::Object(_) => {
                let depth = depth.checked_sub(1)?;
                let mut members = Map::new();
                for (key, value) in self.members() {
                    members.insert(key.to_owned(), value.to_value(depth)?);
                }
                Value::Object(members)
            }
        })
    }
}

/// A number as Go keeps it when nothing says which kind it is: whole if it is spelled so and fits.
fn number(text: &str) -> Number {
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    text.parse().ok().and_then(Number::from_f64).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests;
