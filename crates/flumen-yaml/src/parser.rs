//! Tokens to events: libyaml's state machine.
//!
//! ```text
//! stream    ::= implicit_document? explicit_document*
//! document  ::= (directive* `---`)? node? `...`*
//! node      ::= alias | properties? (collection | scalar)
//! ```
//!
//! The machine keeps a stack of states to return to, so nesting costs memory and no recursion.

mod event;

use event::{Directives, expand_tag};
pub use event::{Event, EventKind, Properties};

use crate::{
    Pos, Style, Text,
    encoding::Traits,
    error::Error,
    scanner::{BlockNode, Fault, Mark, Pace, Piece, Scanner, TokenKind},
};

/// May begin any text that is read on its own, also a part of a file.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StreamStart,
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceFirstEntry,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingFirstKey,
    BlockMappingKey,
    BlockMappingValue,
    /// Behind the `:` of a key that was taken as a whole.
    BlockMappingLineValue,
    FlowSequenceFirstEntry,
    FlowSequenceEntry,
    FlowSequenceEntryMappingKey,
    FlowSequenceEntryMappingValue,
    FlowSequenceEntryMappingEnd,
    FlowMappingFirstKey,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
    End,
}

/// Reads a text as a stream of events.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    source: Text,
    first_line: u32,
    pace: Pace,
    scanner: Scanner<'a>,
    state: State,
    /// Where to go on when the current node is complete.
    states: Vec<State>,
    /// Where the open collections began, for error messages.
    marks: Vec<Mark>,
    directives: Directives,
}

impl<'a> Parser<'a> {
    /// Positions count from `first_line`, which is 1 for a whole file.
    pub(crate) fn new(text: &'a Text, first_line: u32, traits: Traits, pace: Pace) -> Self {
        let content = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        Self {
            source: text.sub(text.len() - content.len()..text.len()),
            first_line,
            pace,
            scanner: Scanner::new(content, traits, pace),
            state: State::StreamStart,
            states: Vec::new(),
            marks: Vec::new(),
            directives: Directives::default(),
        }
    }

    pub(crate) const fn pace(&self) -> Pace {
        self.pace
    }

    /// The error that ends the stream, if one does.
    pub(crate) fn first_error(mut self) -> Option<Error> {
        loop {
            match self.next_event() {
                Ok(event) if event.kind == EventKind::StreamEnd => return None,
                Ok(_) => {}
                Err(error) => return Some(error),
            }
        }
    }

    /// The next event; the last one is `StreamEnd`, which then repeats.
    pub(crate) fn next_event(&mut self) -> Result<Event, Error> {
        self.advance().map_err(|fault| self.error(&fault))
    }

    pub(crate) const fn pos(&self, mark: Mark) -> Pos {
        Pos::new(mark.line + self.first_line, mark.column + 1)
    }

    #[cold]
    fn error(&self, fault: &Fault) -> Error {
        let error = Error::new(fault.0.problem, self.pos(fault.0.mark))
            .with_quoted_line(fault.quoted_line());
        match fault.0.context {
            Some(context) if context != fault.0.mark => error.with_related(self.pos(context)),
            _ => error,
        }
    }

    fn advance(&mut self) -> Result<Event, Fault> {
        match self.state {
            State::StreamStart => {
                self.state = State::ImplicitDocumentStart;
                Ok(self.event(Mark::default(), EventKind::StreamStart))
            }
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => match self.quick_node(false)? {
                Some(event) => Ok(event),
                None => self.node(true, false),
            },
            State::BlockSequenceFirstEntry => self.block_sequence_entry(true),
            State::BlockSequenceEntry => self.block_sequence_entry(false),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingFirstKey => self.block_mapping_key(true),
            State::BlockMappingKey => self.block_mapping_key(false),
            State::BlockMappingValue => self.block_mapping_value(),
            State::BlockMappingLineValue => self.block_mapping_line_value(),
            State::FlowSequenceFirstEntry => self.flow_sequence_entry(true),
            State::FlowSequenceEntry => self.flow_sequence_entry(false),
            State::FlowSequenceEntryMappingKey => self.flow_sequence_entry_mapping_key(),
            State::FlowSequenceEntryMappingValue => self.flow_sequence_entry_mapping_value(),
            State::FlowSequenceEntryMappingEnd => {
                let mark = self.scanner.peek()?.mark;
                self.state = State::FlowSequenceEntry;
                Ok(self.event(mark, EventKind::MappingEnd))
            }
            State::FlowMappingFirstKey => self.flow_mapping_key(true),
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(false),
            State::FlowMappingEmptyValue => self.flow_mapping_value(true),
            State::End => Ok(self.event(Mark::default(), EventKind::StreamEnd)),
        }
    }

    #[inline]
    const fn event(&self, mark: Mark, kind: EventKind) -> Event {
        Event { pos: self.pos(mark), kind }
    }

    fn empty_scalar(&self, mark: Mark) -> Event {
        let value = Text::default();
        self.event(mark, EventKind::Scalar { value, style: Style::Plain, properties: None })
    }

    fn scalar(&self, mark: Mark, piece: Piece, style: Style) -> Event {
        let value = self.text(piece);
        self.event(mark, EventKind::Scalar { value, style, properties: None })
    }

    #[inline]
    fn text(&self, piece: Piece) -> Text {
        match piece {
            Piece::Source { start, end } if start < end => {
                self.source.sub(start as usize..end as usize)
            }
            Piece::Source { .. } => Text::default(),
            Piece::Made(text) => text,
        }
    }

    #[inline]
    fn return_to_outer(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// A fault of the innermost open collection.
    #[cold]
    fn fault_in_collection(&mut self, mark: Mark, problem: &'static str) -> Fault {
        Fault::parser(self.marks.pop(), mark, problem)
    }

    fn document_start(&mut self, implicit: bool) -> Result<Event, Fault> {
        if !implicit {
            while matches!(self.scanner.peek()?.kind, TokenKind::DocumentEnd) {
                self.scanner.take();
            }
        }
        let token = self.scanner.peek()?;
        let start = token.mark;
        let begins_explicitly = matches!(
            token.kind,
            TokenKind::VersionDirective { .. }
                | TokenKind::TagDirective(_)
                | TokenKind::DocumentStart
        );
        if matches!(token.kind, TokenKind::StreamEnd) {
            self.state = State::End;
            self.scanner.take();
            return Ok(self.event(start, EventKind::StreamEnd));
        }
        if implicit && !begins_explicitly {
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            return Ok(self.event(start, EventKind::DocumentStart { explicit: false }));
        }
        self.process_directives()?;
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::DocumentStart) {
            return Err(Fault::parser(None, mark, "did not find expected <document start>"));
        }
        self.scanner.take();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        Ok(self.event(start, EventKind::DocumentStart { explicit: true }))
    }

    fn process_directives(&mut self) -> Result<(), Fault> {
        let mut has_version = false;
        loop {
            let token = self.scanner.peek()?;
            let mark = token.mark;
            match &token.kind {
                TokenKind::VersionDirective { .. } if has_version => {
                    return Err(Fault::parser(None, mark, "found duplicate %YAML directive"));
                }
                TokenKind::VersionDirective { major: 1, minor: 1 } => has_version = true,
                TokenKind::VersionDirective { .. } => {
                    return Err(Fault::parser(None, mark, "found incompatible YAML document"));
                }
                TokenKind::TagDirective(tag) => {
                    if !self.directives.add(&tag.handle, &tag.suffix) {
                        return Err(Fault::parser(None, mark, "found duplicate %TAG directive"));
                    }
                }
                _ => break,
            }
            self.scanner.take();
        }
        Ok(())
    }

    fn document_content(&mut self) -> Result<Event, Fault> {
        if let Some(event) = self.quick_node(false)? {
            return Ok(event);
        }
        let token = self.scanner.peek()?;
        let is_empty = matches!(
            token.kind,
            TokenKind::VersionDirective { .. }
                | TokenKind::TagDirective(_)
                | TokenKind::DocumentStart
                | TokenKind::DocumentEnd
                | TokenKind::StreamEnd
        );
        if is_empty {
            let mark = token.mark;
            self.return_to_outer();
            return Ok(self.empty_scalar(mark));
        }
        self.node(true, false)
    }

    fn document_end(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        let explicit = matches!(token.kind, TokenKind::DocumentEnd);
        if explicit {
            self.scanner.take();
        }
        self.directives.end_document();
        self.state = State::DocumentStart;
        Ok(self.event(mark, EventKind::DocumentEnd { explicit }))
    }

    fn node(&mut self, block: bool, indentless_sequence: bool) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mut start = token.mark;
        let mut properties = None;
        if matches!(token.kind, TokenKind::Anchor(_) | TokenKind::Tag(_)) {
            (start, properties) = self.properties()?;
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        let kind = match token.kind {
            TokenKind::Alias(_) if properties.is_none() => {
                self.return_to_outer();
                let TokenKind::Alias(piece) = self.scanner.take() else {
                    return Ok(self.empty_scalar(mark));
                };
                EventKind::Alias { anchor: self.text(piece) }
            }
            TokenKind::BlockEntry if indentless_sequence => {
                self.state = State::IndentlessSequenceEntry;
                EventKind::SequenceStart { flow: false, properties }
            }
            TokenKind::Scalar(..) => {
                self.return_to_outer();
                let TokenKind::Scalar(piece, style) = self.scanner.take() else {
                    return Ok(self.empty_scalar(mark));
                };
                EventKind::Scalar { value: self.text(piece), style, properties }
            }
            TokenKind::FlowSequenceStart => {
                self.state = State::FlowSequenceFirstEntry;
                EventKind::SequenceStart { flow: true, properties }
            }
            TokenKind::FlowMappingStart => {
                self.state = State::FlowMappingFirstKey;
                EventKind::MappingStart { flow: true, properties }
            }
            TokenKind::BlockSequenceStart if block => {
                self.state = State::BlockSequenceFirstEntry;
                EventKind::SequenceStart { flow: false, properties }
            }
            TokenKind::BlockMappingStart if block => {
                self.state = State::BlockMappingFirstKey;
                EventKind::MappingStart { flow: false, properties }
            }
            _ if properties.is_some() => {
                self.return_to_outer();
                EventKind::Scalar { value: Text::default(), style: Style::Plain, properties }
            }
            _ => {
                return Err(Fault::parser(Some(start), mark, "did not find expected node content"));
            }
        };
        Ok(self.event(start, kind))
    }

    /// A node of the block context that can be told from its line alone. The state to go on with
    /// behind it is on the stack.
    fn quick_node(&mut self, indentless_sequence: bool) -> Result<Option<Event>, Fault> {
        let Some((node, mark)) = self.scanner.take_block_node(indentless_sequence)? else {
            return Ok(None);
        };
        let kind = match node {
            BlockNode::Scalar(piece, style) => {
                self.return_to_outer();
                EventKind::Scalar { value: self.text(piece), style, properties: None }
            }
            BlockNode::Mapping => {
                self.marks.push(mark);
                self.state = State::BlockMappingKey;
                EventKind::MappingStart { flow: false, properties: None }
            }
            BlockNode::Sequence => {
                self.marks.push(mark);
                self.state = State::BlockSequenceEntry;
                EventKind::SequenceStart { flow: false, properties: None }
            }
            BlockNode::IndentlessSequence => {
                self.state = State::IndentlessSequenceEntry;
                EventKind::SequenceStart { flow: false, properties: None }
            }
        };
        Ok(Some(self.event(mark, kind)))
    }

    /// A node that is no scalar on the line before it, with the state to go on with.
    fn quick_node_before(
        &mut self,
        state: State,
        indentless_sequence: bool,
    ) -> Result<Option<Event>, Fault> {
        self.states.push(state);
        let event = self.quick_node(indentless_sequence)?;
        if event.is_none() {
            self.states.pop();
        }
        Ok(event)
    }

    /// An anchor, a tag or both, in either order.
    fn properties(&mut self) -> Result<(Mark, Option<Box<Properties>>), Fault> {
        let start = self.scanner.peek()?.mark;
        let mut anchor = None;
        let mut tag = None;
        let mut tag_mark = start;
        for _ in 0..2 {
            let token = self.scanner.peek()?;
            let mark = token.mark;
            match token.kind {
                TokenKind::Anchor(_) if anchor.is_none() => {
                    if let TokenKind::Anchor(piece) = self.scanner.take() {
                        anchor = Some(self.text(piece));
                    }
                }
                TokenKind::Tag(_) if tag.is_none() => {
                    tag_mark = mark;
                    if let TokenKind::Tag(found) = self.scanner.take() {
                        tag = Some(found);
                    }
                }
                _ => break,
            }
        }
        // go-yaml has the token behind the properties at hand before it looks at the tag.
        self.scanner.peek()?;
        let tag = match tag {
            None => None,
            Some(tag) => match expand_tag(&self.directives, &tag) {
                Some(tag) => Some(tag),
                None => {
                    return Err(Fault::parser(Some(start), tag_mark, "found undefined tag handle"));
                }
            },
        };
        Ok((start, Some(Box::new(Properties { anchor, tag }))))
    }

    fn block_sequence_entry(&mut self, first: bool) -> Result<Event, Fault> {
        if first {
            self.open_collection()?;
        }
        if let Some(mark) = self.scanner.take_entry() {
            return self.block_sequence_node(mark);
        }
        if self.scanner.take_block_end() {
            return Ok(self.end_collection(EventKind::SequenceEnd));
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::BlockEntry => {
                self.scanner.take();
                self.block_sequence_node(mark)
            }
            TokenKind::BlockEnd => Ok(self.close_collection(mark, EventKind::SequenceEnd)),
            _ => Err(self.fault_in_collection(mark, "did not find expected '-' indicator")),
        }
    }

    /// The node behind the `-` at `mark`.
    fn block_sequence_node(&mut self, mark: Mark) -> Result<Event, Fault> {
        if let Some(event) = self.quick_node_before(State::BlockSequenceEntry, false)? {
            return Ok(event);
        }
        let next = self.scanner.peek()?;
        if matches!(next.kind, TokenKind::BlockEntry | TokenKind::BlockEnd) {
            self.state = State::BlockSequenceEntry;
            return Ok(self.empty_scalar(mark.right(1)));
        }
        self.states.push(State::BlockSequenceEntry);
        self.node(true, false)
    }

    fn open_collection(&mut self) -> Result<(), Fault> {
        let mark = self.scanner.peek()?.mark;
        self.marks.push(mark);
        self.scanner.take();
        Ok(())
    }

    fn close_collection(&mut self, mark: Mark, kind: EventKind) -> Event {
        self.return_to_outer();
        self.marks.pop();
        self.scanner.take();
        self.event(mark, kind)
    }

    /// Ends a collection whose end was taken as a whole.
    fn end_collection(&mut self, kind: EventKind) -> Event {
        self.return_to_outer();
        self.marks.pop();
        let mark = self.scanner.mark();
        self.event(mark, kind)
    }

    fn indentless_sequence_entry(&mut self) -> Result<Event, Fault> {
        if let Some(mark) = self.scanner.take_entry() {
            return self.indentless_sequence_node(mark);
        }
        if self.scanner.ends_indentless_sequence() {
            self.return_to_outer();
            let mark = self.scanner.mark();
            return Ok(self.event(mark, EventKind::SequenceEnd));
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::BlockEntry) {
            self.return_to_outer();
            return Ok(self.event(mark, EventKind::SequenceEnd));
        }
        self.scanner.take();
        self.indentless_sequence_node(mark)
    }

    fn indentless_sequence_node(&mut self, mark: Mark) -> Result<Event, Fault> {
        if let Some(event) = self.quick_node_before(State::IndentlessSequenceEntry, false)? {
            return Ok(event);
        }
        let next = self.scanner.peek()?;
        let is_empty = matches!(
            next.kind,
            TokenKind::BlockEntry | TokenKind::Key { .. } | TokenKind::Value | TokenKind::BlockEnd
        );
        if is_empty {
            self.state = State::IndentlessSequenceEntry;
            return Ok(self.empty_scalar(mark.right(1)));
        }
        self.states.push(State::IndentlessSequenceEntry);
        self.node(true, false)
    }

    fn block_mapping_key(&mut self, first: bool) -> Result<Event, Fault> {
        if first {
            self.open_collection()?;
        }
        if let Some((key, mark)) = self.scanner.take_key() {
            self.state = State::BlockMappingLineValue;
            return Ok(self.scalar(mark, key, Style::Plain));
        }
        if self.scanner.take_block_end() {
            return Ok(self.end_collection(EventKind::MappingEnd));
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::Key { explicit } => {
                self.scanner.take();
                if self.block_node_is_missing()? {
                    self.state = State::BlockMappingValue;
                    return Ok(self.empty_scalar(mark.right(u32::from(explicit))));
                }
                self.states.push(State::BlockMappingValue);
                self.node(true, true)
            }
            TokenKind::BlockEnd => Ok(self.close_collection(mark, EventKind::MappingEnd)),
            _ => Err(self.fault_in_collection(mark, "did not find expected key")),
        }
    }

    fn block_node_is_missing(&mut self) -> Result<bool, Fault> {
        let token = self.scanner.peek()?;
        Ok(matches!(token.kind, TokenKind::Key { .. } | TokenKind::Value | TokenKind::BlockEnd))
    }

    fn block_mapping_value(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::Value) {
            self.state = State::BlockMappingKey;
            return Ok(self.empty_scalar(mark));
        }
        self.scanner.take();
        self.block_mapping_value_node(mark.right(1))
    }

    fn block_mapping_line_value(&mut self) -> Result<Event, Fault> {
        let mark = self.scanner.mark();
        if let Some((value, style, mark)) = self.scanner.take_value()? {
            self.state = State::BlockMappingKey;
            return Ok(self.scalar(mark, value, style));
        }
        if let Some(event) = self.quick_node_before(State::BlockMappingKey, true)? {
            return Ok(event);
        }
        self.block_mapping_value_node(mark)
    }

    /// The node behind a `:`, which ended at `mark`.
    fn block_mapping_value_node(&mut self, mark: Mark) -> Result<Event, Fault> {
        if self.block_node_is_missing()? {
            self.state = State::BlockMappingKey;
            return Ok(self.empty_scalar(mark));
        }
        self.states.push(State::BlockMappingKey);
        self.node(true, true)
    }

    /// Takes the `,` before a further entry of a flow collection.
    fn next_flow_entry(&mut self, first: bool, problem: &'static str) -> Result<(), Fault> {
        if first {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::FlowEntry => {
                self.scanner.take();
                Ok(())
            }
            _ => Err(self.fault_in_collection(mark, problem)),
        }
    }

    fn flow_sequence_entry(&mut self, first: bool) -> Result<Event, Fault> {
        if first {
            self.open_collection()?;
        }
        if !matches!(self.scanner.peek()?.kind, TokenKind::FlowSequenceEnd) {
            self.next_flow_entry(first, "did not find expected ',' or ']'")?;
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::FlowSequenceEnd => Ok(self.close_collection(mark, EventKind::SequenceEnd)),
            TokenKind::Key { .. } => {
                self.scanner.take();
                self.state = State::FlowSequenceEntryMappingKey;
                Ok(self.event(mark, EventKind::MappingStart { flow: true, properties: None }))
            }
            _ => {
                self.states.push(State::FlowSequenceEntry);
                self.node(false, false)
            }
        }
    }

    fn flow_sequence_entry_mapping_key(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        let is_missing = matches!(
            token.kind,
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
        );
        if !is_missing {
            self.states.push(State::FlowSequenceEntryMappingValue);
            return self.node(false, false);
        }
        // go-yaml drops the token here, whatever it is; the `:` of `[? : a]` is lost with it.
        self.scanner.take();
        self.state = State::FlowSequenceEntryMappingValue;
        Ok(self.empty_scalar(mark.right(1)))
    }

    fn flow_sequence_entry_mapping_value(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if matches!(token.kind, TokenKind::Value) {
            self.scanner.take();
            let next = self.scanner.peek()?;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
                self.states.push(State::FlowSequenceEntryMappingEnd);
                return self.node(false, false);
            }
        }
        self.state = State::FlowSequenceEntryMappingEnd;
        Ok(self.empty_scalar(mark))
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<Event, Fault> {
        if first {
            self.open_collection()?;
        }
        if !matches!(self.scanner.peek()?.kind, TokenKind::FlowMappingEnd) {
            self.next_flow_entry(first, "did not find expected ',' or '}'")?;
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::FlowMappingEnd => Ok(self.close_collection(mark, EventKind::MappingEnd)),
            TokenKind::Key { .. } => {
                self.scanner.take();
                let next = self.scanner.peek()?;
                let mark = next.mark;
                let is_missing = matches!(
                    next.kind,
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd
                );
                if is_missing {
                    self.state = State::FlowMappingValue;
                    return Ok(self.empty_scalar(mark));
                }
                self.states.push(State::FlowMappingValue);
                self.node(false, false)
            }
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    fn flow_mapping_value(&mut self, empty: bool) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        let mut mark = token.mark;
        if !empty && matches!(token.kind, TokenKind::Value) {
            self.scanner.take();
            let next = self.scanner.peek()?;
            mark = next.mark;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.node(false, false);
            }
        }
        self.state = State::FlowMappingKey;
        Ok(self.empty_scalar(mark))
    }
}
