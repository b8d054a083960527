//! Values under a schema: whether they fit, which fields they have, how two of them differ and
//! merge, and what remains without some fields.
//!
//! All but [`validate`] rely on values that fit; on others they give an answer, but not a useful one.

mod collect;
mod compare;
mod merge;
mod reconcile;
mod remove;
mod validate;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use self::{
    collect::field_set,
    compare::{Comparison, compare},
    merge::merge,
    reconcile::reconcile,
    remove::{remove, with_named_fields},
    validate::{Duplicates, validate},
};
use crate::{
    Element, go,
    order::equal,
    schema::{List, ListKey, ListMerge, Map, Node, Scalar},
};

/// The form of a value that counts, of those that its node allows.
#[derive(Clone, Copy)]
enum Shape<'s> {
    Map(&'s Map),
    Scalar(Scalar),
    List(&'s List),
    /// The node allows nothing.
    Nothing,
}

/// The forms of a node that a value leaves open: its own if the node allows it, otherwise all.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Forms {
    scalar: bool,
    list: bool,
    map: bool,
}

impl Forms {
    const fn all(node: &Node) -> Self {
        Self { scalar: node.scalar.is_some(), list: node.list.is_some(), map: node.map.is_some() }
    }

    const fn of(node: &Node, value: &Value) -> Self {
        let none = Self { scalar: false, list: false, map: false };
        let all = Self::all(node);
        match value {
            Value::Bool(_) | Value::Number(_) | Value::String(_) if all.scalar => {
                Self { scalar: true, ..none }
            }
            Value::Array(_) if all.list => Self { list: true, ..none },
            Value::Object(_) if all.map => Self { map: true, ..none },
            _ => all,
        }
    }

    const fn shape(self, node: &Node) -> Shape<'_> {
        match (&node.map, node.scalar, &node.list) {
            (Some(map), ..) if self.map => Shape::Map(map),
            (_, Some(scalar), _) if self.scalar => Shape::Scalar(scalar),
            (_, _, Some(list)) if self.list => Shape::List(list),
            _ => Shape::Nothing,
        }
    }
}

fn shape<'s>(node: &'s Node, value: &Value) -> Shape<'s> {
    Forms::of(node, value).shape(node)
}

/// How an item of a set or of a list of keyed objects is told from the others.
fn item_element(list: &List, item: &Value) -> Result<Element, String> {
    match &list.merge {
        ListMerge::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListMerge::Map(keys) => key_element(keys, item),
        ListMerge::Set => match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => {
                Err("not supported: associative list with lists as elements".to_owned())
            }
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null"
                    .to_owned())
            }
            scalar => Ok(Element::Value(Arc::new(scalar.clone()))),
        },
    }
}

/// Whether an item can be told from the others, for those who need not know how.
fn has_element(list: &List, item: &Value) -> bool {
    match (&list.merge, item) {
        (ListMerge::Map(keys), Value::Object(fields)) => {
            keys.iter().any(|key| key.default.is_some() || fields.contains_key(&*key.name))
        }
        (ListMerge::Set, item) => !(item.is_null() || item.is_array() || item.is_object()),
        _ => false,
    }
}

/// Whether two items that can be told from others are one.
fn same_element(list: &List, a: &Value, b: &Value) -> bool {
    match &list.merge {
        ListMerge::Map(keys) => keys.iter().all(|key| {
            let value_in = |item| Value::get(item, &*key.name).or(key.default.as_ref());
            match (value_in(a), value_in(b)) {
                (Some(a), Some(b)) => equal(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
        }),
        ListMerge::Set => equal(a, b),
        ListMerge::Atomic => false,
    }
}

fn key_element(keys: &[ListKey], item: &Value) -> Result<Element, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        _ => {
            return Err("associative list with keys may not have non-map elements".to_owned());
        }
    };
    let mut of: Vec<(Arc<str>, Value)> = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(value) = fields.get(&*key.name).or(key.default.as_ref()) {
            of.push((Arc::from(&*key.name), value.clone()));
        }
    }
    if of.is_empty() && !keys.is_empty() {
        let names: Vec<String> = keys.iter().map(|key| go::quote(&key.name)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] \
             (and doesn't have default values for any key fields)",
            names.join(" ")
        ));
    }
    of.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Element::Key(of.into()))
}

/// The items of a list; none if the value is no list.
fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
