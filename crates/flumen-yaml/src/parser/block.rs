//! Block sequences and mappings.
//!
//! ```text
//! block_sequence      ::= BLOCK-SEQUENCE-START (BLOCK-ENTRY block_node?)* BLOCK-END
//! indentless_sequence ::= (BLOCK-ENTRY block_node?)+
//! block_mapping       ::= BLOCK-MAPPING-START ((KEY node?)? (VALUE node?)?)* BLOCK-END
//! ```
//!
//! The common lines are taken from the scanner as a whole, the rest token by token.

use super::{EventKind, Parser, Sink, State};
use crate::{
    Style,
    scanner::{BlockNode, Fault, MappingPart, Mark, Piece, SequencePart, TokenKind},
};

impl Parser<'_> {
    pub(super) fn block_sequence_entry<S: Sink>(
        &mut self,
        sink: &mut S,
        first: bool,
    ) -> Result<(), S::Stop> {
        if first {
            self.open_collection()?;
        }
        match self.scanner.take_sequence_part(false) {
            Some(SequencePart::Entry(mark)) => return self.block_sequence_node(sink, mark),
            Some(SequencePart::End) => {
                return sink.event(self.end_collection(EventKind::SequenceEnd));
            }
            None => {}
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::BlockEntry => {
                self.scanner.take();
                self.block_sequence_node(sink, mark)
            }
            TokenKind::BlockEnd => sink.event(self.close_collection(mark, EventKind::SequenceEnd)),
            _ => Err(self.fault_in_collection(mark, "did not find expected '-' indicator").into()),
        }
    }

    /// The node behind the `-` at `mark`.
    fn block_sequence_node<S: Sink>(&mut self, sink: &mut S, mark: Mark) -> Result<(), S::Stop> {
        if self.quick_node_before(sink, State::BlockSequenceEntry, false)? {
            return Ok(());
        }
        let next = self.scanner.peek()?;
        if matches!(next.kind, TokenKind::BlockEntry | TokenKind::BlockEnd) {
            self.state = State::BlockSequenceEntry;
            return sink.event(self.empty_scalar(mark.right(1)));
        }
        self.states.push(State::BlockSequenceEntry);
        self.node(sink, true, false)
    }

    pub(super) fn indentless_sequence_entry<S: Sink>(
        &mut self,
        sink: &mut S,
    ) -> Result<(), S::Stop> {
        match self.scanner.take_sequence_part(true) {
            Some(SequencePart::Entry(mark)) => return self.indentless_sequence_node(sink, mark),
            Some(SequencePart::End) => {
                self.return_to_outer();
                let mark = self.scanner.mark();
                return sink.event(self.event(mark, EventKind::SequenceEnd));
            }
            None => {}
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::BlockEntry) {
            self.return_to_outer();
            return sink.event(self.event(mark, EventKind::SequenceEnd));
        }
        self.scanner.take();
        self.indentless_sequence_node(sink, mark)
    }

    fn indentless_sequence_node<S: Sink>(
        &mut self,
        sink: &mut S,
        mark: Mark,
    ) -> Result<(), S::Stop> {
        if self.quick_node_before(sink, State::IndentlessSequenceEntry, false)? {
            return Ok(());
        }
        let next = self.scanner.peek()?;
        let is_empty = matches!(
            next.kind,
            TokenKind::BlockEntry | TokenKind::Key { .. } | TokenKind::Value | TokenKind::BlockEnd
        );
        if is_empty {
            self.state = State::IndentlessSequenceEntry;
            return sink.event(self.empty_scalar(mark.right(1)));
        }
        self.states.push(State::IndentlessSequenceEntry);
        self.node(sink, true, false)
    }

    pub(super) fn block_mapping_key<S: Sink>(
        &mut self,
        sink: &mut S,
        first: bool,
    ) -> Result<(), S::Stop> {
        if first {
            self.open_collection()?;
        }
        match self.scanner.take_mapping_part() {
            Some(MappingPart::Key(key, mark)) => return self.block_mapping_line(sink, key, mark),
            Some(MappingPart::End) => {
                return sink.event(self.end_collection(EventKind::MappingEnd));
            }
            None => {}
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::Key { explicit } => {
                self.scanner.take();
                if self.block_node_is_missing()? {
                    self.state = State::BlockMappingValue;
                    return sink.event(self.empty_scalar(mark.right(u32::from(explicit))));
                }
                self.states.push(State::BlockMappingValue);
                self.node(sink, true, true)
            }
            TokenKind::BlockEnd => sink.event(self.close_collection(mark, EventKind::MappingEnd)),
            _ => Err(self.fault_in_collection(mark, "did not find expected key").into()),
        }
    }

    fn block_node_is_missing(&mut self) -> Result<bool, Fault> {
        let token = self.scanner.peek()?;
        Ok(matches!(token.kind, TokenKind::Key { .. } | TokenKind::Value | TokenKind::BlockEnd))
    }

    pub(super) fn block_mapping_value<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Stop> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::Value) {
            self.state = State::BlockMappingKey;
            return sink.event(self.empty_scalar(mark));
        }
        self.scanner.take();
        self.block_mapping_value_node(sink, mark.right(1))
    }

    /// The line of the first key of a mapping, which was taken together with its start.
    pub(super) fn block_mapping_first_line<S: Sink>(
        &mut self,
        sink: &mut S,
    ) -> Result<(), S::Stop> {
        match self.first_key.take() {
            Some((key, mark)) => self.block_mapping_line(sink, key, mark),
            None => self.block_mapping_key(sink, false),
        }
    }

    /// A key that was taken as a whole, and its value.
    fn block_mapping_line<S: Sink>(
        &mut self,
        sink: &mut S,
        key: Piece,
        mark: Mark,
    ) -> Result<(), S::Stop> {
        let len = key.len();
        let key = self.text(key);
        if let Some((value, style, value_mark)) = self.scanner.take_value()? {
            self.state = State::BlockMappingKey;
            let value = self.scalar(value_mark, value, style);
            return sink.pair(self.pos(mark), key, value);
        }
        let kind = EventKind::Scalar { value: key, style: Style::Plain, properties: None };
        sink.event(self.event(mark, kind))?;
        if self.quick_node_before(sink, State::BlockMappingKey, true)? {
            return Ok(());
        }
        self.block_mapping_value_node(sink, mark.right(len + 1))
    }

    /// The node behind a `:`, which ended at `mark`.
    fn block_mapping_value_node<S: Sink>(
        &mut self,
        sink: &mut S,
        mark: Mark,
    ) -> Result<(), S::Stop> {
        if self.block_node_is_missing()? {
            self.state = State::BlockMappingKey;
            return sink.event(self.empty_scalar(mark));
        }
        self.states.push(State::BlockMappingKey);
        self.node(sink, true, true)
    }

    /// A node of the block context that can be told from its line alone; false if it cannot. The
    /// state to go on with behind it is on the stack.
    pub(super) fn quick_node<S: Sink>(
        &mut self,
        sink: &mut S,
        indentless_sequence: bool,
    ) -> Result<bool, S::Stop> {
        let Some((node, mark)) = self.scanner.take_block_node(indentless_sequence)? else {
            return Ok(false);
        };
        let kind = match node {
            BlockNode::Scalar(piece, style) => {
                self.return_to_outer();
                let event = self.scalar(mark, piece, style);
                return sink.event(event).map(|()| true);
            }
            BlockNode::Mapping(key) => {
                self.marks.push(mark);
                self.first_key = Some((key, mark));
                self.state = State::BlockMappingFirstLine;
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
        sink.event(self.event(mark, kind)).map(|()| true)
    }

    /// The same, with the state to go on with.
    fn quick_node_before<S: Sink>(
        &mut self,
        sink: &mut S,
        state: State,
        indentless_sequence: bool,
    ) -> Result<bool, S::Stop> {
        self.states.push(state);
        let is_taken = self.quick_node(sink, indentless_sequence)?;
        if !is_taken {
            self.states.pop();
        }
        Ok(is_taken)
    }
}
