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

use std::collections::VecDeque;

use graph::Graph;
use keys::Keys;

use crate::{
    Budget, Entry, Error, Map, Node, Pos, Scalar, Style, Tag, Text, Value,
    encoding::Traits,
    parser::{Event, EventKind, Parser, Properties, Sink},
    resolve::{resolve, resolve_tagged},
    scanner::{Fault, Pace},
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

/// Reads a text as events.
pub fn events<'a>(text: &'a Text, budget: &Budget) -> Result<Events<'a>, Error> {
    let traits = examine(text, 1, budget)?;
    let parser = Parser::new(text, 1, traits, Pace::Quick);
    Ok(Events { text, traits, parser: Some(parser), queue: Queue::default() })
}

/// The events of a text, up to the end of the stream or the first error.
#[derive(Debug)]
pub struct Events<'a> {
    text: &'a Text,
    traits: Traits,
    parser: Option<Parser<'a>>,
    queue: Queue,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.queue.0.is_empty() {
            let parser = self.parser.as_mut()?;
            let result = parser.advance(&mut self.queue);
            if let Err(fault) = result {
                let error = parser.error(&fault);
                let reference = Parser::new(self.text, 1, self.traits, Pace::Reference);
                self.parser = None;
                return Some(Err(first_error(reference).unwrap_or(error)));
            }
        }
        let event = self.queue.0.pop_front()?;
        if event.kind == EventKind::StreamEnd {
            self.parser = None;
        }
        Some(Ok(event))
    }
}

/// Events that came in one go.
#[derive(Debug, Default)]
struct Queue(VecDeque<Event>);

impl Sink for Queue {
    type Stop = Fault;

    fn event(&mut self, event: Event) -> Result<(), Fault> {
        self.0.push_back(event);
        Ok(())
    }
}

fn first_error(mut parser: Parser<'_>) -> Option<Error> {
    let mut queue = Queue::default();
    loop {
        if let Err(fault) = parser.advance(&mut queue) {
            return Some(parser.error(&fault));
        }
        if queue.0.drain(..).any(|event| event.kind == EventKind::StreamEnd) {
            return None;
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
    let graph = || Graph::new(budget, keys);
    let mut result =
        Reading::new(Composer::new(budget, keys), budget, documents).run(parser(Pace::Quick));
    if let Err(Stop::NeedsGraph) = result {
        result = Reading::new(graph(), budget, documents).run(parser(Pace::Quick));
    }
    if result.is_err() {
        // Something is wrong; the pace of go-yaml decides what is said about it.
        result = Reading::new(graph(), budget, documents).run(parser(Pace::Reference));
    }
    result.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        Stop::Fault(fault) => parser(Pace::Quick).error(&fault),
        Stop::NeedsGraph | Stop::Unsure => Error::new("unreadable", Pos::new(first_line, 1)),
    })
}

/// Makes a tree of the events of a document.
trait Compose {
    /// Takes an event inside of a document.
    fn take(&mut self, event: Event) -> Result<(), Stop>;

    /// Takes a plain key and its value, a scalar without properties.
    #[inline]
    fn take_pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        let kind = EventKind::Scalar { value: key, style: Style::Plain, properties: None };
        self.take(Event { pos: key_pos, kind })?;
        self.take(value)
    }

    /// Gives the tree when the document is complete.
    fn finish(&mut self) -> Result<Node, Stop>;
}

/// The documents of a stream.
struct Reading<'a, C> {
    composer: C,
    budget: &'a Budget,
    documents: Documents,
    roots: Vec<Node>,
    is_done: bool,
}

impl<'a, C: Compose> Reading<'a, C> {
    const fn new(composer: C, budget: &'a Budget, documents: Documents) -> Self {
        Self { composer, budget, documents, roots: Vec::new(), is_done: false }
    }

    fn run(mut self, mut parser: Parser<'_>) -> Result<Vec<Node>, Stop> {
        while !self.is_done {
            parser.advance(&mut self)?;
            // Not one event more than go-yaml looks at.
            if self.documents == Documents::First
                && parser.pace() == Pace::Reference
                && !self.roots.is_empty()
            {
                break;
            }
        }
        Ok(self.roots)
    }

    fn begin_document(&self, pos: Pos) -> Result<(), Stop> {
        if self.documents == Documents::First && !self.roots.is_empty() {
            return Err(Stop::Unsure);
        }
        let most = self.budget.documents;
        if self.roots.len() >= most {
            let problem = format!("the text has more than {most} documents");
            return Err(Stop::Failed(Error::new(problem, pos)));
        }
        Ok(())
    }
}

impl<C: Compose> Sink for Reading<'_, C> {
    type Stop = Stop;

    #[inline(always)]
    fn event(&mut self, event: Event) -> Result<(), Stop> {
        match event.kind {
            EventKind::StreamStart => Ok(()),
            EventKind::StreamEnd => {
                self.is_done = true;
                Ok(())
            }
            EventKind::DocumentStart { .. } => self.begin_document(event.pos),
            EventKind::DocumentEnd { .. } => {
                let root = self.composer.finish()?;
                self.roots.push(root);
                Ok(())
            }
            _ => self.composer.take(event),
        }
    }

    #[inline(always)]
    fn pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        self.composer.take_pair(key_pos, key, value)
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
    /// The text is not YAML.
    Fault(Fault),
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

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
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
    flow_depth: usize,
    /// The first error of this document that does not keep it from being parsed.
    late: Option<Error>,
}

impl<'a> Composer<'a> {
    /// With room for an ordinary manifest.
    fn new(budget: &'a Budget, keys: Keys) -> Self {
        Self {
            budget,
            keys,
            frames: Vec::with_capacity(16),
            nodes: Vec::with_capacity(16),
            entries: Vec::with_capacity(32),
            pending_keys: Vec::with_capacity(16),
            flow_depth: 0,
            late: None,
        }
    }
}

impl Compose for Composer<'_> {
    #[inline(always)]
    fn take(&mut self, event: Event) -> Result<(), Stop> {
        match event.kind {
            EventKind::Scalar { value, style, properties } => {
                self.scalar(event.pos, value, style, properties)
            }
            EventKind::SequenceStart { flow, properties } => {
                self.flow_depth += usize::from(flow);
                self.open(event.pos, FrameKind::Sequence, properties)
            }
            EventKind::MappingStart { flow, properties } => {
                self.flow_depth += usize::from(flow);
                self.open(event.pos, FrameKind::MappingBeforeKey, properties)
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                // Within a flow collection there are no others.
                self.flow_depth = self.flow_depth.saturating_sub(1);
                self.close();
                Ok(())
            }
            EventKind::Alias { .. } => Err(Stop::NeedsGraph),
            EventKind::StreamStart
            | EventKind::StreamEnd
            | EventKind::DocumentStart { .. }
            | EventKind::DocumentEnd { .. } => Ok(()),
        }
    }

    #[inline(always)]
    fn take_pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        let EventKind::Scalar { value: text, style, properties: None } = value.kind else {
            return Err(Stop::NeedsGraph);
        };
        self.pair(key_pos, key, value.pos, text, style)
    }

    fn finish(&mut self) -> Result<Node, Stop> {
        match self.late.take() {
            Some(error) => Err(Stop::Failed(error)),
            None => Ok(self.nodes.pop().unwrap_or_else(Node::null)),
        }
    }
}

impl Composer<'_> {
    /// Takes a scalar as key or value.
    fn scalar(
        &mut self,
        pos: Pos,
        text: Text,
        style: Style,
        properties: Option<Box<Properties>>,
    ) -> Result<(), Stop> {
        let awaits_key = match self.frames.last() {
            Some(frame) => frame.kind == FrameKind::MappingBeforeKey,
            None => false,
        };
        if awaits_key && text == "<<" {
            return Err(Stop::NeedsGraph);
        }
        let scalar = self.resolve_scalar(pos, text, style, properties)?;
        if awaits_key {
            self.check_key(&scalar, pos);
            self.pending_keys.push((scalar.text, pos));
            if let Some(frame) = self.frames.last_mut() {
                frame.kind = FrameKind::MappingBeforeValue;
            }
            return Ok(());
        }
        self.attach(Node::new(pos, Value::Scalar(scalar)));
        Ok(())
    }

    /// Takes a key and its value at once. The parser is inside of a mapping, before a key.
    fn pair(
        &mut self,
        key_pos: Pos,
        key: Text,
        pos: Pos,
        text: Text,
        style: Style,
    ) -> Result<(), Stop> {
        check_scalar_size(&text, pos, self.budget)?;
        let key_tag = resolve(&key);
        if key_tag != Tag::Str {
            let key = Scalar { text: key.clone(), tag: key_tag, style: Style::Plain };
            self.check_key(&key, key_pos);
        }
        let tag = implicit_tag(&text, style);
        let value = Node::new(pos, Value::Scalar(Scalar { text, tag, style }));
        self.entries.push(Entry { key, key_pos, value });
        Ok(())
    }

    fn check_key(&mut self, key: &Scalar, pos: Pos) {
        if let Err(error) = self.keys.check(key, pos, self.frames.len()) {
            self.fail_late(error);
        }
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
        Ok(Scalar { style: written_style(&text, tag, style, self.flow_depth), text, tag })
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

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let value = if frame.kind == FrameKind::Sequence {
            Value::Seq(self.nodes.split_off(frame.start))
        } else {
            let entries = self.entries.split_off(frame.start);
            if let Err(error) = self.keys.check_unique(&entries) {
                self.fail_late(error);
            }
            Value::Map(Map::from(entries))
        };
        self.attach(Node::new(frame.pos, value))
    }

    /// Puts a complete node where it belongs; the root stays on the stack of nodes.
    #[inline]
    fn attach(&mut self, node: Node) {
        match self.frames.last_mut() {
            Some(frame) if frame.kind != FrameKind::Sequence => {
                frame.kind = FrameKind::MappingBeforeKey;
                if let Some((key, key_pos)) = self.pending_keys.pop() {
                    self.entries.push(Entry { key, key_pos, value: node });
                }
            }
            _ => self.nodes.push(node),
        }
    }
}

/// Nothing at all between the commas of a flow collection is null as long as anybody looks at it, but
/// kustomize writes it with quotes and reads it again before it prints: it ends as an empty string.
/// The style keeps that for [`crate::canonical`].
#[inline]
fn written_style(text: &str, tag: Tag, style: Style, flow_depth: usize) -> Style {
    if flow_depth > 0 && tag == Tag::Null && text.is_empty() { Style::SingleQuoted } else { style }
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
