//! Nodes: what may stand wherever a value is expected.
//!
//! ```text
//! node       ::= ALIAS | properties? (collection | SCALAR) | properties
//! properties ::= TAG ANCHOR? | ANCHOR TAG?
//! ```

use super::{EventKind, Parser, Properties, Sink, State, event::expand_tag};
use crate::{
    Style, Text,
    scanner::{Fault, Mark, TokenKind},
};

impl Parser<'_> {
    pub(super) fn node<S: Sink>(
        &mut self,
        sink: &mut S,
        block: bool,
        indentless_sequence: bool,
    ) -> Result<(), S::Stop> {
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
                    return sink.event(self.empty_scalar(mark));
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
                    return sink.event(self.empty_scalar(mark));
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
                return Err(
                    Fault::parser(Some(start), mark, "did not find expected node content").into()
                );
            }
        };
        sink.event(self.event(start, kind))
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
}
