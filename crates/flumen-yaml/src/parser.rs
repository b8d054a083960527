//! Tokens to events: libyaml's state machine.
//!
//! ```text
//! stream    ::= implicit_document? explicit_document*
//! document  ::= (directive* `---`)? node? `...`*
//! node      ::= alias | properties? (collection | scalar)
//! ```
//!
//! The machine keeps a stack of states to return to, so nesting costs memory and no recursion.

mod block;
mod document;
mod event;
mod flow;
mod node;
#[cfg(test)]
mod properties;

use event::Directives;
pub use event::{Event, EventKind, Properties};

use crate::{
    Budget, Pos, Style, Text,
    encoding::Traits,
    error::Error,
    scanner::{Fault, Mark, Pace, Piece, Scanner},
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
    /// Behind the first key of a mapping that was taken as a whole.
    BlockMappingFirstLine,
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

/// Takes events as they come. Handing them to a function that is inlined where they are made spares
/// building most of them.
pub(crate) trait Sink {
    type Stop: From<Fault>;

    fn event(&mut self, event: Event) -> Result<(), Self::Stop>;

    /// A plain key and its value, which is a scalar without properties.
    #[inline]
    fn pair(&mut self, key_pos: Pos, key: Text, value: Event) -> Result<(), Self::Stop> {
        let kind = EventKind::Scalar { value: key, style: Style::Plain, properties: None };
        self.event(Event { pos: key_pos, kind })?;
        self.event(value)
    }
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
    first_key: Option<(Piece, Mark)>,
}

impl<'a> Parser<'a> {
    /// Positions count from `first_line`, which is 1 for a whole file.
    pub(crate) fn new(
        text: &'a Text,
        first_line: u32,
        traits: Traits,
        pace: Pace,
        budget: &Budget,
    ) -> Self {
        let content = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        Self {
            source: text.sub(text.len() - content.len()..text.len()),
            first_line,
            pace,
            scanner: Scanner::new(content, traits, pace, budget.scalar_bytes),
            state: State::StreamStart,
            states: Vec::new(),
            marks: Vec::new(),
            directives: Directives::default(),
            first_key: None,
        }
    }

    pub(crate) const fn pace(&self) -> Pace {
        self.pace
    }

    const fn pos(&self, mark: Mark) -> Pos {
        Pos::new(mark.line + self.first_line, mark.column + 1)
    }

    /// A fault with its place in the file.
    #[cold]
    pub(crate) fn error(&self, fault: &Fault) -> Error {
        let error = Error::new(fault.0.problem, self.pos(fault.0.mark))
            .with_quoted_line(fault.quoted_line())
            .with_v2_line(fault.v2_line());
        match fault.0.context {
            Some(context) if context != fault.0.mark => error.with_related(self.pos(context)),
            _ => error,
        }
    }

    /// Gives one event to `sink`. Behind the end of the stream, that end repeats.
    #[inline]
    pub(crate) fn advance<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Stop> {
        match self.state {
            State::StreamStart => {
                self.state = State::ImplicitDocumentStart;
                sink.event(self.event(Mark::default(), EventKind::StreamStart))
            }
            State::ImplicitDocumentStart => self.document_start(sink, true),
            State::DocumentStart => self.document_start(sink, false),
            State::DocumentContent => self.document_content(sink),
            State::DocumentEnd => self.document_end(sink),
            State::BlockNode => {
                if self.quick_node(sink, false)? {
                    Ok(())
                } else {
                    self.node(sink, true, false)
                }
            }
            State::BlockSequenceFirstEntry => self.block_sequence_entry(sink, true),
            State::BlockSequenceEntry => self.block_sequence_entry(sink, false),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(sink),
            State::BlockMappingFirstKey => self.block_mapping_key(sink, true),
            State::BlockMappingKey => self.block_mapping_key(sink, false),
            State::BlockMappingValue => self.block_mapping_value(sink),
            State::BlockMappingFirstLine => self.block_mapping_first_line(sink),
            State::FlowSequenceFirstEntry => self.flow_sequence_entry(sink, true),
            State::FlowSequenceEntry => self.flow_sequence_entry(sink, false),
            State::FlowSequenceEntryMappingKey => self.flow_sequence_entry_mapping_key(sink),
            State::FlowSequenceEntryMappingValue => self.flow_sequence_entry_mapping_value(sink),
            State::FlowSequenceEntryMappingEnd => {
                let mark = self.scanner.peek()?.mark;
                self.state = State::FlowSequenceEntry;
                sink.event(self.event(mark, EventKind::MappingEnd))
            }
            State::FlowMappingFirstKey => self.flow_mapping_key(sink, true),
            State::FlowMappingKey => self.flow_mapping_key(sink, false),
            State::FlowMappingValue => self.flow_mapping_value(sink, false),
            State::FlowMappingEmptyValue => self.flow_mapping_value(sink, true),
            State::End => sink.event(self.event(Mark::default(), EventKind::StreamEnd)),
        }
    }

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
    const fn event(&self, mark: Mark, kind: EventKind) -> Event {
        Event { pos: self.pos(mark), kind }
    }

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
    fn empty_scalar(&self, mark: Mark) -> Event {
        let value = Text::default();
        self.event(mark, EventKind::Scalar { value, style: Style::Plain, properties: None })
    }

    #[expect(clippy::inline_always, reason = "folds the kind of event where it is made")]
    #[inline(always)]
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
}
