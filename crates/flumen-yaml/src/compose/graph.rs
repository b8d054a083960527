//! Documents with anchors, aliases or merge keys.
//!
//! The text becomes a graph in which an alias is an edge. Before anything is expanded, one pass
//! works out how large every node would become, so a bomb of ten lines is refused without having
//! been built.

mod merge;
mod size;

use std::collections::HashMap;

use merge::{Field, Fields};
use size::Sizes;

use super::{
    Keys, Stop,
    scalar::{explicit_tag, has_tag, implicit_tag, too_deep, tree_style},
    stream::Compose,
};
use crate::{
    Budget, Entry, Error, Map, Node, Pos, Scalar, Style, Tag, Text, Value,
    parser::{Event, EventKind, Properties},
};

/// The number of a node in the graph.
type Id = usize;

#[derive(Debug)]
struct Vertex {
    pos: Pos,
    kind: Kind,
    /// Whether a collection is written with brackets.
    is_flow: bool,
    /// Whether a tag is written before the node.
    is_tagged: bool,
    /// Whether an alias has been replaced by this node, see [`merge`].
    is_settled: bool,
}

#[derive(Debug)]
enum Kind {
    Scalar(Scalar),
    Sequence(Vec<Id>),
    /// Keys and values in turn.
    Mapping(Vec<Id>),
    Alias {
        anchor: Text,
        target: Id,
    },
}

/// The documents of a stream that has anchors somewhere. go-yaml lets a document refer to the
/// anchors of those before it.
pub(super) struct Graph<'a> {
    budget: &'a Budget,
    keys: Keys,
    vertices: Vec<Vertex>,
    /// The root of the current document, and the collections in it that are not complete.
    next_root: Id,
    open: Vec<Id>,
    /// How many flow collections are around the node that is being expanded.
    flow_depth: usize,
    anchors: HashMap<Text, Id>,
    sizes: Sizes,
    late: Option<Error>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(budget: &'a Budget, keys: Keys) -> Self {
        Self {
            budget,
            keys,
            vertices: Vec::new(),
            next_root: 0,
            open: Vec::new(),
            flow_depth: 0,
            anchors: HashMap::new(),
            sizes: Sizes::default(),
            late: None,
        }
    }
}

impl Compose for Graph<'_> {
    fn take(&mut self, event: Event) -> Result<(), Stop> {
        let mut is_flow = false;
        let (kind, properties) = match event.kind {
            EventKind::Scalar { value, style, properties } => {
                (self.scalar(event.pos, value, style, properties.as_deref()), properties)
            }
            EventKind::SequenceStart { flow, properties } => {
                is_flow = flow;
                (Kind::Sequence(Vec::new()), properties)
            }
            EventKind::MappingStart { flow, properties } => {
                is_flow = flow;
                (Kind::Mapping(Vec::new()), properties)
            }
            EventKind::Alias { anchor } => {
                let Some(&target) = self.anchors.get(&anchor) else {
                    let problem = format!("unknown anchor '{anchor}' referenced");
                    return Err(Stop::Failed(Error::new(problem, event.pos)));
                };
                (Kind::Alias { anchor, target }, None)
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                self.open.pop();
                return Ok(());
            }
            EventKind::StreamStart
            | EventKind::StreamEnd
            | EventKind::DocumentStart { .. }
            | EventKind::DocumentEnd { .. } => return Ok(()),
        };
        let id = self.vertices.len();
        if let Some(&parent) = self.open.last()
            && let Kind::Sequence(items) | Kind::Mapping(items) = &mut self.vertices[parent].kind
        {
            items.push(id);
        }
        if matches!(kind, Kind::Sequence(_) | Kind::Mapping(_)) {
            if self.open.len() >= self.budget.depth {
                return Err(Stop::Failed(too_deep(event.pos, self.budget)));
            }
            self.open.push(id);
        }
        let is_tagged = properties.as_deref().is_some_and(has_tag);
        // Known from here on: a node may even refer to itself, if only to be refused.
        if let Some(anchor) = properties.and_then(|properties| properties.anchor) {
            self.anchors.insert(anchor, id);
        }
        self.vertices.push(Vertex { pos: event.pos, kind, is_flow, is_tagged, is_settled: false });
        Ok(())
    }

    fn finish(&mut self) -> Result<Node, Stop> {
        let root = std::mem::replace(&mut self.next_root, self.vertices.len());
        if root == self.vertices.len() {
            return Ok(Node::null());
        }
        self.sizes.check(&self.vertices, root, self.budget)?;
        let node = self.expand(root, 0)?;
        match self.late.take() {
            Some(error) => Err(Stop::Failed(error)),
            None => Ok(node),
        }
    }
}

impl Graph<'_> {
    fn scalar(
        &mut self,
        pos: Pos,
        text: Text,
        style: Style,
        properties: Option<&Properties>,
    ) -> Kind {
        let tag = match properties {
            None => implicit_tag(&text, style),
            Some(properties) => explicit_tag(&text, style, properties).unwrap_or_else(|problem| {
                self.fail_late(Error::new(problem, pos));
                Tag::Str
            }),
        };
        Kind::Scalar(Scalar { text, tag, style })
    }

    fn fail_late(&mut self, error: Error) {
        self.late.get_or_insert(error);
    }

    /// The node with all aliases replaced. The sizes have been checked: there are no cycles and
    /// `depth` stays within the budget.
    fn expand(&mut self, id: Id, depth: usize) -> Result<Node, Error> {
        let id = match self.vertices[id].kind {
            Kind::Alias { target, .. } => {
                self.vertices[target].is_settled = true;
                target
            }
            _ => id,
        };
        let Vertex { pos, is_flow, is_tagged, .. } = self.vertices[id];
        self.flow_depth += usize::from(is_flow);
        let value = match &self.vertices[id].kind {
            Kind::Scalar(scalar) => {
                let style = tree_style(scalar, is_tagged, self.flow_depth);
                Value::Scalar(Scalar { style, ..scalar.clone() })
            }
            Kind::Sequence(items) => {
                let len = items.len();
                let mut nodes = Vec::with_capacity(len);
                for index in 0..len {
                    let item = self.child(id, index);
                    nodes.push(self.expand(item, depth + 1)?);
                }
                Value::Seq(nodes)
            }
            Kind::Mapping(_) => Value::Map(self.expand_mapping(id, depth + 1)?),
            Kind::Alias { .. } => return Ok(Node::null()),
        };
        self.flow_depth -= usize::from(is_flow);
        Ok(Node::new(pos, value))
    }

    /// What stands behind an alias, or the node itself. An alias cannot have an anchor, so there are
    /// no chains.
    fn target(&self, id: Id) -> Id {
        match self.vertices[id].kind {
            Kind::Alias { target, .. } => target,
            _ => id,
        }
    }

    fn child(&self, parent: Id, index: usize) -> Id {
        match &self.vertices[parent].kind {
            Kind::Sequence(items) | Kind::Mapping(items) => items[index],
            _ => parent,
        }
    }

    /// The entries of a mapping, merge keys resolved.
    fn expand_mapping(&mut self, id: Id, depth: usize) -> Result<Map, Error> {
        let Fields { list, own, merge } = self.merged_fields(id, depth)?;
        let mut entries = Vec::with_capacity(list.len());
        for Field { key, key_pos, value } in list {
            entries.push(Entry { key, key_pos, value: self.expand(value, depth)? });
        }
        if let Err(error) = self.keys.check_unique(entries.get(..own).unwrap_or_default()) {
            self.fail_late(error);
        }
        if let Some(value) = merge {
            self.merge_late(&mut entries, value, depth)?;
        }
        Ok(Map::from(entries))
    }
}
