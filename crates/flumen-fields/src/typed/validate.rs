//! Whether a value fits a schema.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use super::{Shape, has_element, item_element, shape};
use crate::{
    go,
    schema::{List, ListMerge, Map, NodeId, Scalar, Schema},
};

/// What does not fit, in the words of the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeErrors(Vec<TypeError>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct TypeError {
    path: String,
    message: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [error] => error.fmt(f),
            errors => {
                f.write_str("errors:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

impl TypeErrors {
    fn add(&mut self, message: impl Into<String>) {
        self.0.push(TypeError { path: String::new(), message: message.into() });
    }

    /// Puts an element in front of the errors that were added since there were so many.
    fn place(&mut self, since: usize, element: impl fmt::Display) {
        for error in &mut self.0[since..] {
            error.path.insert_str(0, &element.to_string());
        }
    }
}

/// Items with the same key are a fault in what somebody applies; they may be stored all the same,
/// because other writes do not ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Refused,
    Allowed,
}

pub(crate) fn validate(
    schema: &Schema,
    value: &Value,
    duplicates: Duplicates,
) -> Result<(), TypeErrors> {
    let mut walk = Walk { schema, duplicates, errors: TypeErrors::default() };
    walk.value(schema.root(), value);
    if walk.errors.0.is_empty() { Ok(()) } else { Err(walk.errors) }
}

struct Walk<'s> {
    schema: &'s Schema,
    duplicates: Duplicates,
    errors: TypeErrors,
}

impl Walk<'_> {
    fn value(&mut self, node: NodeId, value: &Value) {
        match shape(self.schema.node(node), value) {
            Shape::Map(map) => self.map(map, value),
            Shape::Scalar(scalar) => self.scalar(scalar, value),
            Shape::List(list) => self.list(list, value),
            Shape::Nothing => {}
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Value) {
        let fits = match (scalar, value) {
            (_, Value::Null) => true,
            (Scalar::Numeric, value) => value.is_number(),
            (Scalar::String, value) => value.is_string(),
            (Scalar::Boolean, value) => value.is_boolean(),
            (Scalar::Untyped, value) => !value.is_array() && !value.is_object(),
        };
        if fits {
            return;
        }
        self.errors.add(match scalar {
            Scalar::Numeric => {
                format!("expected numeric (int or float), got {}", go::type_name(value))
            }
            Scalar::String => {
                let value = go::syntax(value);
                format!("expected string, got &value.valueUnstructured{{Value:{value}}}")
            }
            Scalar::Boolean => format!("expected boolean, got &{{{}}}", go::plain(value)),
            Scalar::Untyped => format!("expected any scalar, got &{{{}}}", go::plain(value)),
        });
    }

    fn list(&mut self, list: &List, value: &Value) {
        let items = match value {
            Value::Array(items) => items,
            Value::Null => return,
            other => {
                return self.errors.add(format!("expected list, got &{{{}}}", go::plain(other)));
            }
        };
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let since = self.errors.0.len();
            if matches!(list.merge, ListMerge::Atomic) {
                self.value(list.element, item);
                self.errors.place(since, format_args!("[{index}]"));
                continue;
            }
            if self.duplicates == Duplicates::Allowed && has_element(list, item) {
                self.value(list.element, item);
                if self.errors.0.len() == since {
                    continue;
                }
                self.errors.0.truncate(since);
            }
            let element = match item_element(list, item) {
                Ok(element) => element,
                Err(reason) => return self.errors.add(format!("element {index}: {reason}")),
            };
            self.value(list.element, item);
            self.errors.place(since, &element);
            if self.duplicates == Duplicates::Refused && !seen.insert(element.clone()) {
                let message = format!("duplicate entries for key {element}");
                self.errors.0.insert(since, TypeError { path: String::new(), message });
            }
        }
    }

    fn map(&mut self, map: &Map, value: &Value) {
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => return,
            other => {
                return self.errors.add(format!("expected map, got &{{{}}}", go::plain(other)));
            }
        };
        for (name, value) in fields {
            let since = self.errors.0.len();
            let node = map.field(name);
            match node {
                Some(node) => self.value(node, value),
                None => self.errors.add("field not declared in schema"),
            }
            self.errors.place(since, format_args!(".{name}"));
            if node.is_none() {
                return;
            }
        }
    }
}
