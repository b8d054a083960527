//! Events to trees.
//!
//! A document without anchors and merge keys, which is nearly every one, goes straight into
//! [`Node`]s. At the first anchor, alias or `<<` the text is read again into a graph that is then
//! expanded, see [`graph`]: an alias may stand for a node of any size, and only the whole graph
//! tells whether that fits the budget.
//!
//! What a tree cannot hold (two equal keys, a text that does not fit its tag) is reported when its
//! document is complete, because go-yaml, too, first parses and then decodes.

mod graph;
mod keys;

use graph::read_graph;
use keys::Keys;

use crate::{
    Budget, Entry, Error, Map, Node, Pos, Scalar, Style, Tag, Text, Value,
    encoding::Traits,
    parser::{Event, EventKind, Parser, Properties},
    resolve::{resolve, resolve_tagged},
};

const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// Reads all documents of a text. Positions count from `first_line`, 1 for a whole file.
///
/// A document without content is a null node; a text without documents gives none. Keys that are
/// numbers, booleans or null count as their text.
pub fn read(text: &Text, first_line: u32, budget: &Budget) -> Result<Vec<Node>, Error> {
    read_stream(text, first_line, budget, Keys::AnyScalar, budget.documents, true)
}

/// Reads a piece between two `---` lines as kustomize does: the first document only, whatever comes
/// behind it, and only with keys that JSON can have. None if the text has no document.
pub fn read_resource(text: &Text, first_line: u32, budget: &Budget) -> Result<Option<Node>, Error> {
    read_stream(text, first_line, budget, Keys::Strings, 1, false).map(|mut nodes| nodes.pop())
}

/// Reads the first document of a text as go-yaml v2 does when it is not strict: whatever comes
/// behind it is not looked at, and a key may stand more than once. None if the text has no document.
pub fn read_lenient(text: &Text, first_line: u32, budget: &Budget) -> Result<Option<Node>, Error> {
    read_stream(text, first_line, budget, Keys::Repeatable, 1, false).map(|mut nodes| nodes.pop())
}

/// Reads a text as events.
pub fn events<'a>(text: &'a Text, budget: &Budget) -> Result<Events<'a>, Error> {
    let traits = examine(text, 1, budget)?;
    Ok(Events { parser: Parser::new(text, 1, traits), done: false })
}

/// The events of a text, up to the end of the stream or the first error.
#[derive(Debug)]
pub struct Events<'a> {
    parser: Parser<'a>,
    done: bool,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let event = self.parser.next_event();
        self.done = match &event {
            Ok(event) => event.kind == EventKind::StreamEnd,
            Err(_) => true,
        };
        Some(event)
    }
}

fn read_stream(
    text: &Text,
    first_line: u32,
    budget: &Budget,
    keys: Keys,
    documents: usize,
    all: bool,
) -> Result<Vec<Node>, Error> {
    let text = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(_) => &text.sub(BYTE_ORDER_MARK.len()..text.len()),
        None => text,
    };
    let traits = examine(text, first_line, budget)?;
    let composer = Composer {
        parser: Parser::new(text, first_line, traits),
        budget,
        keys,
        frames: Vec::new(),
        nodes: Vec::new(),
        entries: Vec::new(),
        pending_keys: Vec::new(),
        flow_depth: 0,
        late: None,
    };
    let documents = Documents { most: documents, all };
    match composer.stream(documents) {
        Ok(nodes) => Ok(nodes),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::NeedsGraph) => {
            read_graph(Parser::new(text, first_line, traits), budget, keys, documents)
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
#[derive(Clone, Copy, Debug)]
struct Documents {
    most: usize,
    /// Whether having more of them is an error, or they are just not looked at.
    all: bool,
}

impl Documents {
    /// Whether to go on after `found` documents, of which the next begins at `pos`.
    fn goes_on(self, found: usize, pos: Pos) -> Result<bool, Error> {
        if found < self.most {
            return Ok(true);
        }
        if !self.all {
            return Ok(false);
        }
        Err(Error::new(format!("the text has more than {} documents", self.most), pos))
    }
}

enum Stop {
    Failed(Error),
    NeedsGraph,
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
    parser: Parser<'a>,
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

impl Composer<'_> {
    fn stream(mut self, documents: Documents) -> Result<Vec<Node>, Stop> {
        let mut roots = Vec::new();
        loop {
            let event = self.parser.next_event()?;
            match event.kind {
                EventKind::DocumentStart { .. } => {
                    if !documents.goes_on(roots.len(), event.pos)? {
                        return Ok(roots);
                    }
                    let root = self.document()?;
                    roots.push(root);
                    if !documents.all && roots.len() == documents.most {
                        return Ok(roots);
                    }
                }
                EventKind::StreamEnd => return Ok(roots),
                _ => {}
            }
        }
    }

    fn document(&mut self) -> Result<Node, Stop> {
        let mut root = None;
        loop {
            let event = self.parser.next_event()?;
            let done = match event.kind {
                EventKind::Scalar { value, style, properties } => {
                    self.scalar(event.pos, value, style, properties)?
                }
                EventKind::SequenceStart { flow, properties } => {
                    self.flow_depth += usize::from(flow);
                    self.open(event.pos, FrameKind::Sequence, properties)?;
                    None
                }
                EventKind::MappingStart { flow, properties } => {
                    self.flow_depth += usize::from(flow);
                    self.open(event.pos, FrameKind::MappingBeforeKey, properties)?;
                    None
                }
                EventKind::SequenceEnd | EventKind::MappingEnd => {
                    // Within a flow collection there are no others.
                    self.flow_depth = self.flow_depth.saturating_sub(1);
                    self.close()
                }
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
            return Err(Stop::Failed(keys::not_a_scalar(pos)));
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
            if let Err(error) = self.keys.check_unique(&entries) {
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
