//! Flow sequences and mappings.
//!
//! ```text
//! flow_sequence ::= `[` (entry `,`)* entry? `]`
//! flow_mapping  ::= `{` (entry `,`)* entry? `}`
//! entry         ::= flow_node | KEY flow_node? (VALUE flow_node?)?
//! ```

use super::{EventKind, Parser, Sink, State};
use crate::scanner::{Fault, TokenKind};

impl Parser<'_> {
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

    pub(super) fn flow_sequence_entry<S: Sink>(
        &mut self,
        sink: &mut S,
        first: bool,
    ) -> Result<(), S::Stop> {
        if first {
            self.open_collection()?;
        }
        if !matches!(self.scanner.peek()?.kind, TokenKind::FlowSequenceEnd) {
            self.next_flow_entry(first, "did not find expected ',' or ']'")?;
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::FlowSequenceEnd => {
                sink.event(self.close_collection(mark, EventKind::SequenceEnd))
            }
            TokenKind::Key { .. } => {
                self.scanner.take();
                self.state = State::FlowSequenceEntryMappingKey;
                sink.event(
                    self.event(mark, EventKind::MappingStart { flow: true, properties: None }),
                )
            }
            _ => {
                self.states.push(State::FlowSequenceEntry);
                self.node(sink, false, false)
            }
        }
    }

    pub(super) fn flow_sequence_entry_mapping_key<S: Sink>(
        &mut self,
        sink: &mut S,
    ) -> Result<(), S::Stop> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        let is_missing = matches!(
            token.kind,
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
        );
        if !is_missing {
            self.states.push(State::FlowSequenceEntryMappingValue);
            return self.node(sink, false, false);
        }
        // go-yaml drops the token here, whatever it is; the `:` of `[? : a]` is lost with it.
        self.scanner.take();
        self.state = State::FlowSequenceEntryMappingValue;
        sink.event(self.empty_scalar(mark.right(1)))
    }

    pub(super) fn flow_sequence_entry_mapping_value<S: Sink>(
        &mut self,
        sink: &mut S,
    ) -> Result<(), S::Stop> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if matches!(token.kind, TokenKind::Value) {
            self.scanner.take();
            let next = self.scanner.peek()?;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
                self.states.push(State::FlowSequenceEntryMappingEnd);
                return self.node(sink, false, false);
            }
        }
        self.state = State::FlowSequenceEntryMappingEnd;
        sink.event(self.empty_scalar(mark))
    }

    pub(super) fn flow_mapping_key<S: Sink>(
        &mut self,
        sink: &mut S,
        first: bool,
    ) -> Result<(), S::Stop> {
        if first {
            self.open_collection()?;
        }
        if !matches!(self.scanner.peek()?.kind, TokenKind::FlowMappingEnd) {
            self.next_flow_entry(first, "did not find expected ',' or '}'")?;
        }
        let token = self.scanner.peek()?;
        let mark = token.mark;
        match token.kind {
            TokenKind::FlowMappingEnd => {
                sink.event(self.close_collection(mark, EventKind::MappingEnd))
            }
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
                    return sink.event(self.empty_scalar(mark));
                }
                self.states.push(State::FlowMappingValue);
                self.node(sink, false, false)
            }
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                self.node(sink, false, false)
            }
        }
    }

    pub(super) fn flow_mapping_value<S: Sink>(
        &mut self,
        sink: &mut S,
        empty: bool,
    ) -> Result<(), S::Stop> {
        let token = self.scanner.peek()?;
        let mut mark = token.mark;
        if !empty && matches!(token.kind, TokenKind::Value) {
            self.scanner.take();
            let next = self.scanner.peek()?;
            mark = next.mark;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.node(sink, false, false);
            }
        }
        self.state = State::FlowMappingKey;
        sink.event(self.empty_scalar(mark))
    }
}
