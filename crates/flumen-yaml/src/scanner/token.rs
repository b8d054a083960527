//! What the scanner hands to the parser.

use crate::{Style, Text};

/// A place in the text, counted from 0; columns count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Mark {
    pub(crate) const fn right(self, columns: u32) -> Self {
        Self { line: self.line, column: self.column + columns }
    }
}

#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) mark: Mark,
}

#[derive(Debug)]
pub(crate) enum TokenKind {
    StreamEnd,
    VersionDirective { major: u8, minor: u8 },
    TagDirective(Box<Tag>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key { explicit: bool },
    Value,
    Alias(Piece),
    Anchor(Piece),
    Tag(Box<Tag>),
    Scalar(Piece, Style),
}

/// Text of a token: a part of the source where possible.
#[derive(Debug)]
pub(crate) enum Piece {
    Source { start: u32, end: u32 },
    Made(Text),
}

impl Piece {
    /// The length in bytes.
    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::Source { start, end } => end - start,
            Self::Made(text) => u32::try_from(text.len()).unwrap_or(u32::MAX),
        }
    }
}

/// A tag, or a `%TAG` directive with its prefix for a suffix.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) handle: String,
    pub(crate) suffix: String,
}

/// An error of the scanner or the parser, before it is told where the text began.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) Box<FaultDetails>);

#[derive(Debug)]
pub(crate) struct FaultDetails {
    pub(crate) problem: &'static str,
    pub(crate) context: Option<Mark>,
    pub(crate) mark: Mark,
    by_scanner: bool,
}

impl Fault {
    #[cold]
    pub(crate) fn scanner(context: Mark, mark: Mark, problem: &'static str) -> Self {
        let context = Some(context);
        Self(Box::new(FaultDetails { problem, context, mark, by_scanner: true }))
    }

    #[cold]
    pub(crate) fn parser(context: Option<Mark>, mark: Mark, problem: &'static str) -> Self {
        Self(Box::new(FaultDetails { problem, context, mark, by_scanner: false }))
    }

    /// The line that go-yaml names: that of the context unless it is the first line, else that of
    /// the problem; too small by one for errors of the parser; none for the first line.
    pub(crate) fn quoted_line(&self) -> u32 {
        let context = self.0.context.map_or(0, |mark| mark.line);
        match if context == 0 { self.0.mark.line } else { context } {
            0 => 0,
            line if self.0.by_scanner => line + 1,
            line => line,
        }
    }

    /// The line that go-yaml v2 names: that of the problem unless it is the first line.
    pub(crate) fn v2_line(&self) -> u32 {
        match self.0.mark.line {
            0 => self.0.context.map_or(0, |mark| mark.line),
            line if self.0.by_scanner => line + 1,
            line => line,
        }
    }
}
