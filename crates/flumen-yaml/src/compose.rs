//! Events to trees.
//!
//! A document without anchors and merge keys, which is nearly every one, goes straight into
//! [`Node`]s, see [`direct`]. At the first anchor, alias, `<<` or key that is no scalar the text is
//! read again into a graph that is then expanded, see [`graph`]: an alias may stand for a node of any
//! size, and only the whole graph tells whether that fits the budget.
//!
//! What a tree cannot hold (two equal keys, a text that does not fit its tag) is reported when its
//! document is complete, because go-yaml, too, first parses and then decodes.

mod direct;
mod events;
mod graph;
mod keys;
mod scalar;
mod stream;

use direct::Direct;
pub use events::{Events, events};
use graph::Graph;
use keys::Keys;
use stream::{Documents, Stop, Stream};

use crate::{
    Budget, Error, Node, Pos, Text,
    encoding::{Traits, too_large},
    parser::Parser,
    scanner::Pace,
};

/// Reads all documents of a text. Positions count from `first_line`, 1 for a whole file.
///
/// A document without content is a null node; a text without documents gives none. Keys that are
/// numbers, booleans or null count as their text.
pub fn read(text: &Text, first_line: u32, budget: &Budget) -> Result<Vec<Node>, Error> {
    read_stream(text, first_line, budget, Keys::AnyScalar, Documents::All)
}

/// Reads a piece between two `---` lines as kustomize does: the first document only, whatever comes
/// behind it, and only with keys that JSON can have. None if the text has no document.
pub fn read_resource(text: &Text, first_line: u32, budget: &Budget) -> Result<Option<Node>, Error> {
    read_stream(text, first_line, budget, Keys::Strings, Documents::First)
        .map(|mut nodes| nodes.pop())
}

/// Reads the first document of a text as go-yaml v2 does when it is not strict: whatever comes
/// behind it is not looked at, and a key may stand more than once. None if the text has no document.
pub fn read_lenient(text: &Text, first_line: u32, budget: &Budget) -> Result<Option<Node>, Error> {
    read_stream(text, first_line, budget, Keys::Repeatable, Documents::First)
        .map(|mut nodes| nodes.pop())
}

fn read_stream(
    text: &Text,
    first_line: u32,
    budget: &Budget,
    keys: Keys,
    documents: Documents,
) -> Result<Vec<Node>, Error> {
    let traits = examine(text, first_line, budget)?;
    let parser = |pace| Parser::new(text, first_line, traits, pace, budget);
    let graph = || Graph::new(budget, keys);
    let mut result =
        Stream::new(Direct::new(budget, keys), budget, documents).run(parser(Pace::Quick));
    if let Err(Stop::NeedsGraph) = result {
        result = Stream::new(graph(), budget, documents).run(parser(Pace::Quick));
    }
    if result.is_err() {
        // Something is wrong; the pace of go-yaml decides what is said about it.
        result = Stream::new(graph(), budget, documents).run(parser(Pace::Reference));
    }
    result.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::Fault(fault) => parser(Pace::Quick).error(&fault),
        Stop::NeedsGraph | Stop::Unsure => Error::new("unreadable", Pos::new(first_line, 1)),
    })
}

fn examine(text: &Text, first_line: u32, budget: &Budget) -> Result<Traits, Error> {
    if text.len() > budget.input_bytes {
        return Err(too_large(budget.input_bytes, Pos::new(first_line, 1)));
    }
    Traits::of(text).map_err(|error| error.moved_down(first_line.saturating_sub(1)))
}

#[cfg(test)]
mod tests;
