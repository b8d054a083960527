//! How values are merged: which parts are owned one by one and which as a whole.

mod builtin;

use std::cmp::Ordering;

use serde_json::Value;

/// A description of one kind of object, or of one version of it. Its nodes refer to each other, so
/// that types may contain themselves.
#[derive(Debug)]
pub struct Schema {
    nodes: Vec<Node>,
    root: NodeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(u32);

/// What a value may be. Most nodes allow one form; a value without a schema allows all of them.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub scalar: Option<Scalar>,
    pub list: Option<List>,
    pub map: Option<Map>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    String,
    Numeric,
    Boolean,
    /// Any of them.
    Untyped,
}

#[derive(Clone, Debug)]
pub struct List {
    pub element: NodeId,
    pub merge: ListMerge,
}

#[derive(Clone, Debug)]
pub enum ListMerge {
    /// Owned as a whole.
    Atomic,
    /// Scalars that are there or not.
    Set,
    /// Objects that are told apart by these fields.
    Map(Vec<ListKey>),
}

#[derive(Clone, Debug)]
pub struct ListKey {
    pub name: Box<str>,
    /// The value of an item that does not have the field.
    pub default: Option<Value>,
}

/// A struct, a map, or both: fields that are known and others.
#[derive(Clone, Debug)]
pub struct Map {
    /// Ordered by length and name: most names differ in length, which is quick to see.
    fields: Vec<(Box<str>, NodeId)>,
    other: Option<NodeId>,
    atomic: bool,
}

impl Node {
    pub fn scalar(scalar: Scalar) -> Self {
        Self { scalar: Some(scalar), ..Self::default() }
    }

    pub fn list(element: NodeId, merge: ListMerge) -> Self {
        Self { list: Some(List { element, merge }), ..Self::default() }
    }

    pub fn map(map: Map) -> Self {
        Self { map: Some(map), ..Self::default() }
    }
}

impl Map {
    /// Fields with names, and the node of fields that are not named; without it there are no others.
    pub fn new(mut fields: Vec<(Box<str>, NodeId)>, other: Option<NodeId>) -> Self {
        fields.sort_by(|(a, _), (b, _)| by_length(a, b));
        Self { fields, other, atomic: false }
    }

    /// Owned as a whole.
    #[must_use]
    pub const fn atomic(mut self, atomic: bool) -> Self {
        self.atomic = atomic;
        self
    }

    pub(crate) const fn is_atomic(&self) -> bool {
        self.atomic
    }

    /// The node of a field that has a name here.
    pub(crate) fn named(&self, name: &str) -> Option<NodeId> {
        let found = self.fields.binary_search_by(|(own, _)| by_length(own, name));
        found.ok().map(|place| self.fields[place].1)
    }

    /// The node of fields without a name here.
    pub(crate) const fn other(&self) -> Option<NodeId> {
        self.other
    }

    /// The node of any field.
    pub(crate) fn field(&self, name: &str) -> Option<NodeId> {
        self.named(name).or(self.other)
    }
}

fn by_length(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl Schema {
    pub(crate) const fn root(&self) -> NodeId {
        self.root
    }

    /// Whether a node stands for the managed fields of the object.
    #[expect(clippy::unused_self, reason = "what an id means is up to its schema")]
    pub(crate) fn is_managed(&self, id: NodeId) -> bool {
        id == SchemaBuilder::MANAGED
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&NOTHING)
    }
}

/// Stands for a node that a builder has promised and not made.
static NOTHING: Node = Node { scalar: None, list: None, map: None };

/// Makes a [`Schema`].
#[derive(Debug)]
pub struct SchemaBuilder {
    nodes: Vec<Node>,
}

impl Default for SchemaBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl SchemaBuilder {
    /// Anything; owned as a whole if it is a list or a map.
    pub const UNTYPED: NodeId = NodeId(0);
    /// Anything; maps are owned by key, lists as a whole. This is how unknown fields are merged.
    pub const DEDUCED: NodeId = NodeId(1);
    /// The managed fields of an object, which belong to nobody and are in no set.
    const MANAGED: NodeId = NodeId(2);

    pub fn new() -> Self {
        let anything = |atomic, element| Node {
            scalar: Some(Scalar::Untyped),
            list: Some(List { element: Self::UNTYPED, merge: ListMerge::Atomic }),
            map: Some(Map::new(Vec::new(), Some(element)).atomic(atomic)),
        };
        let nodes =
            vec![anything(true, Self::UNTYPED), anything(false, Self::DEDUCED), Node::default()];
        Self { nodes }
    }

    pub fn add(&mut self, node: Node) -> NodeId {
        let id = self.reserve();
        self.set(id, node);
        id
    }

    /// A place for a node that is set later, so that others can refer to it before.
    pub fn reserve(&mut self) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node::default());
        id
    }

    pub fn set(&mut self, id: NodeId, node: Node) {
        if let Some(place) = self.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
    }

    pub fn build(self, root: NodeId) -> Schema {
        Schema { nodes: self.nodes, root }
    }
}
