//! Readers of values: the vocabulary of [`fields!`](super::fields).

use flumen_yaml::{Tag, Text};

use super::{Found, Problem, Result, Value, number::Number, old_boolean};
use crate::kustomization::fields::{Located, Pairs};

pub(crate) fn string(value: Value<'_>) -> Result<Text> {
    string_type("string")(value)
}

/// A string that Go knows under another name.
pub(crate) fn string_type(wanted: &'static str) -> impl Fn(Value<'_>) -> Result<Text> + Copy {
    move |value| {
        let Some(scalar) = value.node.as_scalar() else { return Err(value.mismatch(wanted)) };
        match value.found() {
            Found::String => Ok(scalar.text.clone()),
            Found::Number if value.mode.scalars_as_strings => Ok(Number::parse(&scalar.text)
                .map_or_else(|| scalar.text.clone(), |number| number.to_text().into())),
            Found::Bool if value.mode.scalars_as_strings => {
                Ok(Text::literal(if truth(value) { "true" } else { "false" }))
            }
            _ => Err(value.mismatch(wanted)),
        }
    }
}

pub(crate) fn located(value: Value<'_>) -> Result<Located> {
    Ok(Located { text: string(value)?, pos: value.pos() })
}

pub(crate) fn boolean(value: Value<'_>) -> Result<bool> {
    if value.found() == Found::Bool { Ok(truth(value)) } else { Err(value.mismatch("bool")) }
}

/// Which of the two a boolean is.
fn truth(value: Value<'_>) -> bool {
    value.node.as_scalar().is_some_and(|scalar| match scalar.tag {
        Tag::Bool => scalar.text.eq_ignore_ascii_case("true"),
        _ => old_boolean(scalar) == Some(true),
    })
}

/// A whole number; `wanted` is what Go calls it.
pub(crate) fn integer(wanted: &'static str) -> impl Fn(Value<'_>) -> Result<i64> + Copy {
    move |value| {
        let number = match value.found() {
            Found::Number => value.node.as_str().and_then(Number::parse),
            _ => None,
        };
        let Some(number) = number else { return Err(value.mismatch(wanted)) };
        if !number.is_finite() {
            return Err(Problem::new("json: unsupported value: not a finite number", value.pos()));
        }
        number.as_i64().ok_or_else(|| Problem::number(&number.to_string(), wanted, value.pos()))
    }
}

/// A list; `item` is what Go calls its items, null ones are empty.
pub(crate) fn list<T: Default>(
    item: &'static str,
    read: impl Fn(Value<'_>) -> Result<T> + Copy,
) -> impl Fn(Value<'_>) -> Result<Vec<T>> + Copy {
    move |value| items(value, read).unwrap_or_else(|| Err(value.mismatch(format!("[]{item}"))))
}

/// A list that Go knows under a name of its own.
pub(crate) fn named_list<T: Default>(
    wanted: &'static str,
    read: impl Fn(Value<'_>) -> Result<T> + Copy,
) -> impl Fn(Value<'_>) -> Result<Vec<T>> + Copy {
    move |value| items(value, read).unwrap_or_else(|| Err(value.mismatch(wanted)))
}

fn items<T: Default>(
    value: Value<'_>,
    read: impl Fn(Value<'_>) -> Result<T>,
) -> Option<Result<Vec<T>>> {
    let read_item = |node| {
        let item = value.with(node);
        if item.is_null() { Ok(T::default()) } else { read(item) }
    };
    value.node.as_seq().map(|items| items.iter().map(read_item).collect())
}

pub(crate) fn texts(value: Value<'_>) -> Result<Vec<Text>> {
    list("string", string)(value)
}

pub(crate) fn paths(value: Value<'_>) -> Result<Vec<Located>> {
    list("string", located)(value)
}

/// A record that may be left out.
pub(crate) fn optional<T>(
    read: impl Fn(Value<'_>) -> Result<T> + Copy,
) -> impl Fn(Value<'_>) -> Result<Option<T>> + Copy {
    move |value| read(value).map(Some)
}

/// Names and texts; of a name that is written twice the last counts, a null text is empty.
pub(crate) fn pairs(value: Value<'_>) -> Result<Pairs> {
    let Some(map) = value.node.as_map() else {
        return Err(value.mismatch("map[string]string"));
    };
    let mut pairs = Pairs::with_capacity(map.len());
    let mut places = rustc_hash::FxHashMap::default();
    for entry in map {
        let value = value.with(&entry.value);
        let text = if value.is_null() { Text::default() } else { string(value)? };
        let place = *places.entry(&entry.key).or_insert(pairs.len());
        match pairs.get_mut(place) {
            Some((_, old)) => *old = text,
            None => pairs.push((entry.key.clone(), text)),
        }
    }
    Ok(pairs)
}

/// A mapping of which only its being one matters here.
pub(crate) fn object(value: Value<'_>) -> Result<()> {
    match value.found() {
        Found::Object => Ok(()),
        _ => Err(value.mismatch("map[string]interface {}")),
    }
}

/// Reads a value for its mistakes only.
pub(crate) fn checked<T>(
    read: impl Fn(Value<'_>) -> Result<T> + Copy,
) -> impl Fn(Value<'_>) -> Result<()> + Copy {
    move |value| read(value).map(|_| ())
}
