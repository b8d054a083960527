//! Values as Go prints them in messages.

use std::fmt;

use serde_json::Value;

/// `map[a:1 b:[x y]]`
pub(super) struct Printed<'a>(pub &'a Value);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::String(text) => f.write_str(text),
            Value::Bool(_) | Value::Number(_) => self.0.fmt(f),
            Value::Array(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(f, "{space}{}", Printed(item))?;
                }
                f.write_str("]")
            }
            Value::Object(map) => {
                f.write_str("map[")?;
                for (place, (key, item)) in map.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(f, "{space}{key}:{}", Printed(item))?;
                }
                f.write_str("]")
            }
        }
    }
}
