//! Documents and their directives.
//!
//! ```text
//! stream            ::= implicit_document? explicit_document* STREAM-END
//! implicit_document ::= block_node DOCUMENT-END*
//! explicit_document ::= DIRECTIVE* DOCUMENT-START block_node? DOCUMENT-END*
//! ```

use super::{EventKind, Parser, Sink, State};
use crate::scanner::{Fault, TokenKind};

impl Parser<'_> {
    pub(super) fn document_start<S: Sink>(
        &mut self,
        sink: &mut S,
        implicit: bool,
    ) -> Result<(), S::Stop> {
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
            return sink.event(self.event(start, EventKind::StreamEnd));
        }
        if implicit && !begins_explicitly {
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            return sink.event(self.event(start, EventKind::DocumentStart { explicit: false }));
        }
        self.process_directives()?;
        let token = self.scanner.peek()?;
        let mark = token.mark;
        if !matches!(token.kind, TokenKind::DocumentStart) {
            let problem = "did not find expected <document start>";
            return Err(Fault::parser(None, mark, problem).into());
        }
        self.scanner.take();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        sink.event(self.event(start, EventKind::DocumentStart { explicit: true }))
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

    pub(super) fn document_content<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Stop> {
        if self.quick_node(sink, false)? {
            return Ok(());
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
            return sink.event(self.empty_scalar(mark));
        }
        self.node(sink, true, false)
    }

    pub(super) fn document_end<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Stop> {
        let token = self.scanner.peek()?;
        let mark = token.mark;
        let explicit = matches!(token.kind, TokenKind::DocumentEnd);
        if explicit {
            self.scanner.take();
        }
        self.directives.end_document();
        self.state = State::DocumentStart;
        sink.event(self.event(mark, EventKind::DocumentEnd { explicit }))
    }
}
