//! Documents without anchors, straight into trees.

use super::{
    Keys, Stop,
    scalar::{explicit_tag, has_tag, implicit_tag, too_deep, tree_style},
    stream::Compose,
};
use crate::{
    Budget, Entry, Error, Map, Node, Pos, Scalar, Style, Tag, Text, Value,
    parser::{Event, EventKind, Properties},
    resolve::resolve,
};

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

pub(super) struct Direct<'a> {
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

impl<'a> Direct<'a> {
    /// With room for an ordinary manifest.
    pub(super) fn new(budget: &'a Budget, keys: Keys) -> Self {
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

impl Compose for Direct<'_> {
    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
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

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
    fn take_pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Stop> {
        let EventKind::Scalar { value: text, style, properties: None } = value.kind else {
            return Err(Stop::NeedsGraph);
        };
        self.pair(key_pos, key, value.pos, text, style);
        Ok(())
    }

    fn finish(&mut self) -> Result<Node, Stop> {
        match self.late.take() {
            Some(error) => Err(Stop::Failed(error)),
            None => Ok(self.nodes.pop().unwrap_or_else(Node::null)),
        }
    }
}

impl Direct<'_> {
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
    fn pair(&mut self, key_pos: Pos, key: Text, pos: Pos, text: Text, style: Style) {
        let key_tag = resolve(&key);
        if key_tag != Tag::Str {
            let key = Scalar { text: key.clone(), tag: key_tag, style: Style::Plain };
            self.check_key(&key, key_pos);
        }
        let tag = implicit_tag(&text, style);
        let value = Node::new(pos, Value::Scalar(Scalar { text, tag, style }));
        self.entries.push(Entry { key, key_pos, value });
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
        let is_tagged = properties.as_deref().is_some_and(has_tag);
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
        let mut scalar = Scalar { text, tag, style };
        scalar.style = tree_style(&scalar, is_tagged, self.flow_depth);
        Ok(scalar)
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
        self.attach(Node::new(frame.pos, value));
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
