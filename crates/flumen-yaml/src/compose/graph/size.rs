//! How large a graph becomes when its aliases are replaced by what they stand for.

use super::{Id, Kind, Vertex, too_deep};
use crate::{Budget, Error};

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
        let size = self.measure(vertices, root)?;
        let pos = vertices[root].pos;
        let written = (vertices.len() - root) as u64;
        if size.nodes.saturating_sub(written) > budget.alias_nodes as u64 {
            let most = budget.alias_nodes;
            let problem = format!(
                "document contains excessive aliasing: it stands for more than {most} nodes"
            );
            return Err(Error::new(problem, pos));
        }
        if size.bytes > budget.alias_bytes as u64 && size.nodes > written {
            let problem = "document contains excessive aliasing: it repeats too much text";
            return Err(Error::new(problem, pos));
        }
        if size.depth > budget.depth {
            return Err(too_deep(pos, budget));
        }
        Ok(())
    }

    /// Walks the graph with a stack of its own: an alias can lead from the bottom of one tree to the
    /// top of another, so paths are longer than documents are deep.
    fn measure(&mut self, vertices: &[Vertex], root: Id) -> Result<Size, Error> {
        let mut stack = vec![(root, 0, Size::default())];
        self.states[root] = State::Open;
        let mut result = Size::default();
        while let Some((id, next, sum)) = stack.last_mut() {
            let vertex = &vertices[*id];
            let child = match &vertex.kind {
                Kind::Scalar(scalar) => {
                    sum.bytes = scalar.text.len() as u64;
                    None
                }
                Kind::Sequence(items) | Kind::Mapping(items) => items.get(*next).copied(),
                Kind::Alias { target, .. } => (*next == 0).then_some(*target),
            };
            let Some(child) = child else {
                let is_alias = matches!(vertex.kind, Kind::Alias { .. });
                let is_scalar = matches!(vertex.kind, Kind::Scalar(_));
                let size = Size {
                    nodes: sum.nodes.saturating_add(u64::from(!is_alias)),
                    bytes: sum.bytes,
                    depth: sum.depth + usize::from(!is_alias && !is_scalar),
                };
                self.states[*id] = State::Known(size);
                stack.pop();
                match stack.last_mut() {
                    Some((_, _, outer)) => outer.add(size),
                    None => result = size,
                }
                continue;
            };
            *next += 1;
            match self.states[child] {
                State::Known(size) => sum.add(size),
                State::Unknown => {
                    self.states[child] = State::Open;
                    stack.push((child, 0, Size::default()));
                }
                State::Open => {
                    let Kind::Alias { anchor, .. } = &vertex.kind else { continue };
                    let problem = format!("anchor '{anchor}' value contains itself");
                    return Err(Error::new(problem, vertex.pos));
                }
            }
        }
        Ok(result)
    }
}

impl Size {
    fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.depth = self.depth.max(other.depth);
    }
}
