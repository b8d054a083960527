//! Reading decoded objects. What is absent, null or of another type reads as the zero value, because
//! that is what it is in the server's own types.

use std::sync::LazyLock;

use flumen_object::Quantity;
use serde_json::{Map, Value};

pub(crate) trait Read {
    /// A field that is there and not null.
    fn some(&self, name: &str) -> Option<&Value>;

    fn text(&self, name: &str) -> &str {
        self.some(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A string that is there, also if it is empty.
    fn text_given(&self, name: &str) -> Option<&str> {
        self.some(name).and_then(Value::as_str)
    }

    fn int(&self, name: &str) -> i64 {
        self.int_given(name).unwrap_or_default()
    }

    fn int_given(&self, name: &str) -> Option<i64> {
        self.some(name).and_then(Value::as_i64)
    }

    fn truth(&self, name: &str) -> bool {
        self.truth_given(name).unwrap_or_default()
    }

    fn truth_given(&self, name: &str) -> Option<bool> {
        self.some(name).and_then(Value::as_bool)
    }

    fn list(&self, name: &str) -> &[Value] {
        self.some(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn map(&self, name: &str) -> &Map<String, Value> {
        static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        self.some(name).and_then(Value::as_object).unwrap_or(&EMPTY)
    }

    /// A struct; an empty one if it is absent.
    fn part(&self, name: &str) -> &Value {
        self.some(name).unwrap_or(&Value::Null)
    }

    /// The strings of a list.
    fn texts<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str>
    where
        Self: 'a,
    {
        self.list(name).iter().map(|value| value.as_str().unwrap_or_default())
    }

    /// The strings of a map.
    fn pairs<'a>(&'a self, name: &str) -> impl Iterator<Item = (&'a str, &'a str)>
    where
        Self: 'a,
    {
        self.map(name).iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
    }
}

impl Read for Value {
    fn some(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }
}

/// An amount of a resource; nothing if there is none.
pub(crate) fn quantity(value: &Value) -> Quantity {
    match value {
        Value::String(text) => Quantity::parse(text).unwrap_or_else(|_| Quantity::from(0)),
        other => Quantity::from(other.as_i64().unwrap_or_default()),
    }
}

/// Whether there is something of it.
pub(crate) fn is_positive(quantity: &Quantity) -> bool {
    !quantity.is_zero() && !quantity.is_negative()
}

/// Whether it is whole when it is rounded up to thousandths.
pub(crate) fn is_integer(quantity: &Quantity) -> bool {
    quantity.milli() % 1000 == 0
}
