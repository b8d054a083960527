//! Which fields a value has.

use serde_json::Value;

use super::{Shape, item_element, items, shape};
use crate::{
    Element, FieldSet,
    schema::{List, ListMerge, Map, NodeId, Schema},
    set::Node,
};

/// The set of all fields and items of a value that somebody who sends it owns.
pub(crate) fn field_set(schema: &Schema, value: &Value) -> FieldSet {
    collect(schema, schema.root(), value).1
}

/// Whether a value is a leaf, and what is below.
fn collect(schema: &Schema, node: NodeId, value: &Value) -> (bool, FieldSet) {
    match shape(schema.node(node), value) {
        Shape::Map(map) if map.is_atomic() => (true, FieldSet::new()),
        Shape::Map(map) => (false, fields(schema, map, value)),
        Shape::Scalar(_) => (true, FieldSet::new()),
        Shape::List(list) if matches!(list.merge, ListMerge::Atomic) => (true, FieldSet::new()),
        Shape::List(list) => (false, list_items(schema, list, value)),
        Shape::Nothing => (false, FieldSet::new()),
    }
}

fn fields(schema: &Schema, map: &Map, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let named = map.named(name);
        let Some(node) = map.field(name) else { continue };
        if schema.is_managed(node) {
            continue;
        }
        let (leaf, children) = collect(schema, node, value);
        let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        set.push(Element::field(name), leaf || empty || named.is_none(), children);
    }
    set
}

fn list_items(schema: &Schema, list: &List, value: &Value) -> FieldSet {
    let mut nodes = Vec::new();
    for item in items(Some(value)) {
        if let Ok(element) = item_element(list, item) {
            let children = collect(schema, list.element, item).1;
            nodes.push(Node { element, member: true, children });
        }
    }
    // Items with one key are owned as a whole, all of them together.
    nodes.sort_by(|a, b| a.element.cmp(&b.element));
    nodes.dedup_by(|repeated, first| {
        let same = repeated.element == first.element;
        if same {
            first.children = FieldSet::new();
        }
        same
    });
    FieldSet::of_nodes(nodes)
}
