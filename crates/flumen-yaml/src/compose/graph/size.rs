//! How large a graph becomes when its aliases are replaced by what they stand for.

use super::{Id, Kind, Vertex, too_deep};
use crate::{Budget, Error, Pos};

/// What a node amounts to, itself included and aliases expanded.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: u64,
    bytes: u64,
    depth: usize,
}

#[derive(Clone, Copy)]
enum State {
    Unknown,
    /// Being worked out: an alias to it is a cycle.
    Open,
    Known(Size),
}

/// What is known about the nodes of a graph, which grows from document to document.
#[derive(Default)]
pub(super) struct Sizes {
    states: Vec<State>,
}

impl Sizes {
    /// Refuses a document that contains itself or that would grow beyond the budget.
    pub(super) fn check(
        &mut self,
        vertices: &[Vertex],
        root: Id,
        budget: &Budget,
    ) -> Result<(), Error> {
        self.states.resize(vertices.len(), State::Unknown);
        let written = vertices.get(root..).unwrap_or_default().iter().map(Size::written).fold(
            Size::default(),
            |mut sum, size| {
                sum.add(size);
                sum
            },
        );
        let limit = Size {
            nodes: written.nodes.saturating_add(budget.alias_nodes as u64),
            bytes: written.bytes.saturating_add(budget.alias_bytes as u64),
            depth: budget.depth,
        };
        self.measure(vertices, root, limit, budget)
    }

    /// Walks the graph with a stack of its own: an alias can lead from the bottom of one tree to the
    /// top of another, so paths are longer than documents are deep.
    fn measure(
        &mut self,
        vertices: &[Vertex],
        root: Id,
        limit: Size,
        budget: &Budget,
    ) -> Result<(), Error> {
        let mut stack = vec![(root, 0, Size::written(&vertices[root]))];
        self.states[root] = State::Open;
        while let Some((id, next, sum)) = stack.last_mut() {
            let vertex = &vertices[*id];
            let child = match &vertex.kind {
                Kind::Scalar(_) => None,
                Kind::Sequence(items) | Kind::Mapping(items) => items.get(*next).copied(),
                Kind::Alias { target, .. } => (*next == 0).then_some(*target),
            };
            let Some(child) = child else {
                let size = Size { depth: sum.depth + vertex.levels(), ..*sum };
                self.states[*id] = State::Known(size);
                stack.pop();
                if let Some((_, _, outer)) = stack.last_mut() {
                    outer.add(size);
                    outer.check(limit, vertex.pos, budget)?;
                }
                continue;
            };
            *next += 1;
            match self.states[child] {
                State::Known(size) => {
                    sum.add(size);
                    sum.check(limit, vertices[child].pos, budget)?;
                }
                State::Unknown => {
                    self.states[child] = State::Open;
                    stack.push((child, 0, Size::written(&vertices[child])));
                }
                State::Open => {
                    let Kind::Alias { anchor, .. } = &vertex.kind else { continue };
                    let problem = format!("anchor '{anchor}' value contains itself");
                    return Err(Error::new(problem, vertex.pos));
                }
            }
        }
        Ok(())
    }
}

impl Vertex {
    /// How many levels it adds to what is inside of it.
    fn levels(&self) -> usize {
        usize::from(matches!(self.kind, Kind::Sequence(_) | Kind::Mapping(_)))
    }
}

impl Size {
    /// What a node amounts to without what is inside of it.
    fn written(vertex: &Vertex) -> Self {
        let (nodes, bytes) = match &vertex.kind {
            Kind::Scalar(scalar) => (1, scalar.text.len() as u64),
            Kind::Sequence(_) | Kind::Mapping(_) => (1, 0),
            Kind::Alias { .. } => (0, 0),
        };
        Self { nodes, bytes, depth: 0 }
    }

    fn check(self, limit: Self, pos: Pos, budget: &Budget) -> Result<(), Error> {
        let problem = if self.nodes > limit.nodes {
            format!(
                "document contains excessive aliasing: its aliases stand for more than {} nodes",
                budget.alias_nodes
            )
        } else if self.bytes > limit.bytes {
            format!(
                "document contains excessive aliasing: its aliases stand for more than {} bytes",
                budget.alias_bytes
            )
        } else if self.depth >= limit.depth {
            return Err(too_deep(pos, budget));
        } else {
            return Ok(());
        };
        Err(Error::new(problem, pos))
    }

    fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.depth = self.depth.max(other.depth);
    }
}
