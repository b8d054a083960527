//! Adapts sets of fields to a schema that has changed since they were made.

use super::{Forms, Shape};
use crate::{
    FieldSet,
    schema::{ListMerge, NodeId, Schema},
    set::Node,
};

/// The set with whole values in place of parts of them, where the schema now says that they are owned
/// as a whole. None if nothing is to be changed.
pub(crate) fn reconcile(schema: &Schema, set: &FieldSet) -> Option<FieldSet> {
    below(schema, schema.root(), set)
}

fn below(schema: &Schema, node: NodeId, set: &FieldSet) -> Option<FieldSet> {
    let shape = Forms::all(schema.node(node)).shape(schema.node(node));
    let node_of = |element: &crate::Element| match shape {
        Shape::Map(map) => element.as_field().map_or_else(|| map.other(), |name| map.field(name)),
        Shape::List(list) => Some(list.element),
        _ => None,
    };
    let mut changed: Option<Vec<Node>> = None;
    for (place, node) in set.nodes().iter().enumerate() {
        if let Some(new) = node_of(&node.element).and_then(|id| reconciled(schema, id, node)) {
            changed.get_or_insert_with(|| set.nodes().to_vec())[place] = new;
        }
    }
    changed.map(FieldSet::of_nodes)
}

fn reconciled(schema: &Schema, id: NodeId, node: &Node) -> Option<Node> {
    if node.children.is_empty() {
        return None;
    }
    let whole = match Forms::all(schema.node(id)).shape(schema.node(id)) {
        Shape::Map(map) => map.is_atomic(),
        Shape::List(list) => matches!(list.merge, ListMerge::Atomic),
        _ => false,
    };
    let element = node.element.clone();
    if whole {
        return Some(Node { element, member: true, children: FieldSet::new() });
    }
    let children = below(schema, id, &node.children)?;
    Some(Node { element, member: node.member, children })
}
