//! What remains of a value without some of its fields.

use serde_json::{Map, Value};

use super::{Shape, item_element, shape};
use crate::{
    FieldSet,
    schema::{self, ListMerge, NodeId, Schema},
    set::Node,
};

/// The value without the fields and items of the set. What loses its last field or item is null.
pub(crate) fn remove(schema: &Schema, value: &Value, set: &FieldSet) -> Value {
    without(schema, schema.root(), value, set)
}

fn without(schema: &Schema, node: NodeId, value: &Value, set: &FieldSet) -> Value {
    match (shape(schema.node(node), value), value) {
        (Shape::Map(map), Value::Object(fields)) if !map.is_atomic() => {
            let mut out = Map::new();
            for (name, value) in fields {
                match (set.get_field(name), map.field(name)) {
                    (Some(node), _) if node.member => {}
                    (Some(of), Some(node)) => {
                        out.insert(name.clone(), without(schema, node, value, &of.children));
                    }
                    _ => {
                        out.insert(name.clone(), value.clone());
                    }
                }
            }
            if out.is_empty() { Value::Null } else { Value::Object(out) }
        }
        (Shape::List(list), Value::Array(items)) if !matches!(list.merge, ListMerge::Atomic) => {
            let mut out = Vec::with_capacity(items.len());
            for item in items {
                let element = item_element(list, item).ok();
                match element.and_then(|element| set.get(&element)) {
                    Some(node) if node.member => {}
                    Some(node) => out.push(without(schema, list.element, item, &node.children)),
                    None => out.push(item.clone()),
                }
            }
            if out.is_empty() { Value::Null } else { Value::Array(out) }
        }
        (Shape::Scalar(_), value) => value.clone(),
        _ => Value::Null,
    }
}

/// The set with all fields that have a name in the schema and something below them in the set. They
/// are not members otherwise, because a struct belongs to nobody; for removing, they have to be.
pub(crate) fn with_named_fields(schema: &Schema, set: &FieldSet) -> FieldSet {
    named(schema, Some(schema.root()), set)
}

fn named(schema: &Schema, node: Option<NodeId>, set: &FieldSet) -> FieldSet {
    let node = node.map(|node| schema.node(node));
    let map = node.and_then(|node| node.map.as_ref());
    let list = node.and_then(|node| node.list.as_ref());
    let mut out = FieldSet::new();
    for Node { element, member, children } in set.nodes() {
        let name = element.as_field();
        let has_name = map.zip(name).is_some_and(|(map, name)| map.named(name).is_some());
        let below = match (map, name, list) {
            (Some(map), Some(name), _) => map.field(name),
            (_, None, Some(schema::List { element: item, .. })) if element.is_key() => Some(*item),
            _ => None,
        };
        let children = named(schema, below, children);
        out.push(element.clone(), *member || (has_name && !children.is_empty()), children);
    }
    out
}
