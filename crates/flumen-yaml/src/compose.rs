//! Events to trees.
//!
//! A document without anchors and merge keys, which is nearly every one, goes straight into
//! [`Node`]s. At the first anchor, alias, `<<` or key that is no scalar the text is read again into a graph that is then
//! expanded, see [`graph`]: an alias may stand for a node of any size, and only the whole graph
//! tells whether that fits the budget.
//!
//! What a tree cannot hold (two equal keys, a text that does not fit its tag) is reported when its
//! document is complete, because go-yaml, too, first parses and then decodes.

mod graph;
mod keys;

use graph::Graph;
use keys::Keys;

use crate::{
    Budget, Entry, Error, Map, Node, Pos, Scalar, Style, Tag, Text, Value,
    encoding::Traits,
    parser::{Event, EventKind, Parser, Properties},
    resolve::{resolve, resolve_tagged},
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

/// Reads a text as events.
pub fn events<'a>(text: &'a Text, budget: &Budget) -> Result<Events<'a>, Error> {
    let traits = examine(text, 1, budget)?;
    Ok(Events { text, traits, parser: Some(Parser::new(text, 1, traits, Pace::Quick)) })
}

/// The events of a text, up to the end of the stream or the first error.
#[derive(Debug)]
pub struct Events<'a> {
    text: &'a Text,
    traits: Traits,
    parser: Option<Parser<'a>>,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.parser.as_mut()?.next_event();
        match event {
            Ok(event) => {
                if event.kind == EventKind::StreamEnd {
                    self.parser = None;
                }
                Some(Ok(event))
            }
            Err(error) => {
                self.parser = None;
                let reference = Parser::new(self.text, 1, self.traits, Pace::Reference);
                Some(Err(reference.first_error().unwrap_or(error)))
            }
        }
    }
}

fn read_stream(
    text: &Text,
    first_line: u32,
    budget: &Budget,
    keys: Keys,
    documents: Documents,
) -> Result<Vec<Node>, Error> {
    let traits = examine(text, first_line, budget)?;
    let parser = |pace| Parser::new(text, first_line, traits, pace);
    let mut composer = Composer::new(budget, keys);
    let mut result =
        read_documents(parser(Pace::Quick), budget, documents, |parser| composer.document(parser));
    if let Err(Stop::NeedsGraph) = result {
        let mut graph = Graph::new(budget, keys);
        result = read_documents(parser(Pace::Quick), budget, documents, |parser| {
            graph.read_document(parser)
        });
    }
    result
        .or_else(|_| {
            // Something is wrong; the pace of go-yaml decides what is said about it.
            let mut graph = Graph::new(budget, keys);
            read_documents(parser(Pace::Reference), budget, documents, |parser| {
                graph.read_document(parser)
            })
        })
        .map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::NeedsGraph | Stop::Unsure => Error::new("unreadable", Pos::new(first_line, 1)),
        })
}

fn read_documents<'a>(
    mut parser: Parser<'a>,
    budget: &Budget,
    documents: Documents,
    mut read_document: impl FnMut(&mut Parser<'a>) -> Result<Node, Stop>,
) -> Result<Vec<Node>, Stop> {
    let mut roots = Vec::new();
    loop {
        let event = parser.next_event()?;
        match event.kind {
            EventKind::StreamEnd => return Ok(roots),
            EventKind::DocumentStart { .. } => {}
            _ => continue,
        }
        if roots.len() >= budget.documents {
            let problem = format!("the text has more than {} documents", budget.documents);
            return Err(Stop::Failed(Error::new(problem, event.pos)));
        }
        roots.push(read_document(&mut parser)?);
        if documents == Documents::First {
            let is_last = parser.pace() == Pace::Reference
                || parser.next_event()?.kind == EventKind::StreamEnd;
            return if is_last { Ok(roots) } else { Err(Stop::Unsure) };
        }
    }
}

fn examine(text: &Text, first_line: u32, budget: &Budget) -> Result<Traits, Error> {
    if text.len() > budget.input_bytes {
        let problem = format!("the text is larger than {} bytes", budget.input_bytes);
        return Err(Error::new(problem, Pos::new(first_line, 1)));
    }
    Traits::of(text).map_err(|error| error.moved_down(first_line.saturating_sub(1)))
}

/// Which documents of a stream are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Documents {
    All,
    First,
}

/// Why a text was not read.
enum Stop {
    Failed(Error),
    /// There are anchors or the like.
    NeedsGraph,
    /// Something follows the first document. How much of it go-yaml looks at, and may stumble over,
    /// depends on its pace.
    Unsure,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// An open collection. What it holds so far is at the end of the composer's stacks, so that its own
/// memory can be allocated once, in the right size.
struct Frame {
    pos: Pos,
    /// The length of the stack of nodes or entries when the collection began.
    start: usize,
    kind: FrameKind,
}

#[derive(PartialEq, Eq)]
enum FrameKind {
    Sequence,
    MappingBeforeKey,
    MappingBeforeValue,
}

struct Composer<'a> {
    budget: &'a Budget,
    keys: Keys,
    frames: Vec<Frame>,
    nodes: Vec<Node>,
    entries: Vec<Entry>,
    pending_keys: Vec<(Text, Pos)>,
    /// The first error of this document that does not keep it from being parsed.
    late: Option<Error>,
}

impl<'a> Composer<'a> {
    const fn new(budget: &'a Budget, keys: Keys) -> Self {
        Self {
            budget,
            keys,
            frames: Vec::new(),
            nodes: Vec::new(),
            entries: Vec::new(),
            pending_keys: Vec::new(),
            late: None,
        }
    }

    fn document(&mut self, parser: &mut Parser<'_>) -> Result<Node, Stop> {
        let mut root = None;
        loop {
            let event = parser.next_event()?;
            let done = match event.kind {
                EventKind::Scalar { value, style, properties } => {
                    self.scalar(event.pos, value, style, properties)?
                }
                EventKind::SequenceStart { properties, .. } => {
                    self.open(event.pos, FrameKind::Sequence, properties)?;
                    None
                }
                EventKind::MappingStart { properties, .. } => {
                    self.open(event.pos, FrameKind::MappingBeforeKey, properties)?;
                    None
                }
                EventKind::SequenceEnd | EventKind::MappingEnd => self.close(),
                EventKind::Alias { .. } => return Err(Stop::NeedsGraph),
                EventKind::DocumentEnd { .. } | EventKind::StreamEnd => break,
                EventKind::StreamStart | EventKind::DocumentStart { .. } => None,
            };
            if done.is_some() {
                root = done;
            }
        }
        match self.late.take() {
            Some(error) => Err(Stop::Failed(error)),
            None => Ok(root.unwrap_or_else(Node::null)),
        }
    }

    /// Takes a scalar as key or value. Gives the root if this is it.
    #[inline]
    fn scalar(
        &mut self,
        pos: Pos,
        text: Text,
        style: Style,
        properties: Option<Box<Properties>>,
    ) -> Result<Option<Node>, Stop> {
        let awaits_key = match self.frames.last() {
            Some(frame) => frame.kind == FrameKind::MappingBeforeKey,
            None => false,
        };
        if awaits_key && text == "<<" {
            return Err(Stop::NeedsGraph);
        }
        let scalar = self.resolve_scalar(pos, text, style, properties)?;
        if awaits_key {
            if let Err(error) = self.keys.check(&scalar, pos, self.frames.len()) {
                self.fail_late(error);
            }
            self.pending_keys.push((scalar.text, pos));
            if let Some(frame) = self.frames.last_mut() {
                frame.kind = FrameKind::MappingBeforeValue;
            }
            return Ok(None);
        }
        Ok(self.attach(Node::new(pos, Value::Scalar(scalar))))
    }

    #[inline]
    fn resolve_scalar(
        &mut self,
        pos: Pos,
        text: Text,
        style: Style,
        properties: Option<Box<Properties>>,
    ) -> Result<Scalar, Stop> {
        check_scalar_size(&text, pos, self.budget)?;
        let tag = match properties {
            None => implicit_tag(&text, style),
            Some(properties) => {
                if properties.anchor.is_some() {
                    return Err(Stop::NeedsGraph);
                }
                explicit_tag(&text, style, &properties).unwrap_or_else(|problem| {
                    self.fail_late(Error::new(problem, pos));
                    Tag::Str
                })
            }
        };
        Ok(Scalar { text, tag, style })
    }

    #[cold]
    fn fail_late(&mut self, error: Error) {
        self.late.get_or_insert(error);
    }

    fn open(
        &mut self,
        pos: Pos,
        kind: FrameKind,
        properties: Option<Box<Properties>>,
    ) -> Result<(), Stop> {
        if properties.is_some_and(|properties| properties.anchor.is_some()) {
            return Err(Stop::NeedsGraph);
        }
        if self.frames.last().is_some_and(|frame| frame.kind == FrameKind::MappingBeforeKey) {
            return Err(Stop::NeedsGraph);
        }
        if self.frames.len() >= self.budget.depth {
            return Err(Stop::Failed(too_deep(pos, self.budget)));
        }
        let start = match kind {
            FrameKind::Sequence => self.nodes.len(),
            _ => self.entries.len(),
        };
        self.frames.push(Frame { pos, start, kind });
        Ok(())
    }

    fn close(&mut self) -> Option<Node> {
        let frame = self.frames.pop()?;
        let value = if frame.kind == FrameKind::Sequence {
            Value::Seq(self.nodes.split_off(frame.start))
        } else {
            let entries = self.entries.split_off(frame.start);
            if let Err(error) = keys::check_unique(&entries) {
                self.fail_late(error);
            }
            Value::Map(Map::from(entries))
        };
        self.attach(Node::new(frame.pos, value))
    }

    /// Puts a complete node where it belongs. Gives it back if it is the root.
    #[inline]
    fn attach(&mut self, node: Node) -> Option<Node> {
        let Some(frame) = self.frames.last_mut() else { return Some(node) };
        if frame.kind == FrameKind::Sequence {
            self.nodes.push(node);
        } else if let Some((key, key_pos)) = self.pending_keys.pop() {
            frame.kind = FrameKind::MappingBeforeKey;
            self.entries.push(Entry { key, key_pos, value: node });
        }
        None
    }
}

#[inline]
fn implicit_tag(text: &str, style: Style) -> Tag {
    match style {
        Style::Plain => resolve(text),
        _ => Tag::Str,
    }
}

fn explicit_tag(text: &str, style: Style, properties: &Properties) -> Result<Tag, String> {
    match properties.tag.as_deref() {
        // `!` only says that there is no tag.
        None | Some("!") => Ok(implicit_tag(text, style)),
        Some(tag) => resolve_tagged(tag, text),
    }
}

fn check_scalar_size(text: &str, pos: Pos, budget: &Budget) -> Result<(), Error> {
    match text.len() > budget.scalar_bytes {
        true => {
            let problem = format!("a scalar is larger than {} bytes", budget.scalar_bytes);
            Err(Error::new(problem, pos))
        }
        false => Ok(()),
    }
}

#[cold]
fn too_deep(pos: Pos, budget: &Budget) -> Error {
    Error::new(format!("the document is nested more than {} levels deep", budget.depth), pos)
}

#[cfg(test)]
mod tests;
