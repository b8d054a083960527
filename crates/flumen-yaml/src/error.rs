//! What can be wrong with a YAML text, in the words of go-yaml and with the true place.
//!
//! go-yaml names a line that depends on which of its layers failed and that is often one too small,
//! and it counts from the start of the piece it was given. People search for those messages, so the
//! text keeps them; [`Error::pos`] is the place to show.

use std::{borrow::Cow, fmt};

use crate::Pos;

/// A text that cannot be read.
///
/// `Display` prints what go-yaml prints, such as
/// `yaml: line 3: mapping values are not allowed in this context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    problem: Cow<'static, str>,
    pos: Pos,
    related: Pos,
    quoted_line: u32,
    v2_line: u32,
}

impl Error {
    pub(crate) fn new(problem: impl Into<Cow<'static, str>>, pos: Pos) -> Self {
        let details = Details {
            problem: problem.into(),
            pos,
            related: Pos::default(),
            quoted_line: 0,
            v2_line: 0,
        };
        Self(Box::new(details))
    }

    /// Names the place where the construct at fault begins, or that a key was first defined at.
    #[must_use]
    pub(crate) fn with_related(mut self, related: Pos) -> Self {
        self.0.related = related;
        self
    }

    /// Sets the line that the message names; 0 for none.
    #[must_use]
    pub(crate) fn with_quoted_line(mut self, line: u32) -> Self {
        self.0.quoted_line = line;
        self
    }

    /// Sets the line that go-yaml v2 would name; 0 for none.
    #[must_use]
    pub(crate) fn with_v2_line(mut self, line: u32) -> Self {
        self.0.v2_line = line;
        self
    }

    /// The same error in a text that begins further down.
    #[must_use]
    pub(crate) fn moved_down(mut self, lines: u32) -> Self {
        self.0.pos.line += lines;
        self
    }

    /// What is wrong, without any place.
    pub fn problem(&self) -> &str {
        &self.0.problem
    }

    /// Where it is wrong.
    pub fn pos(&self) -> Pos {
        self.0.pos
    }

    /// Whether the message holds pieces of the text that was read, which may be secret.
    pub fn quotes_text(&self) -> bool {
        matches!(self.0.problem, Cow::Owned(_))
    }

    /// What go-yaml v2 prints. It prefers the line of the mistake to that of the construct at fault.
    pub fn to_v2_string(&self) -> String {
        match self.0.v2_line {
            0 => format!("yaml: {}", self.0.problem),
            line => format!("yaml: line {line}: {}", self.0.problem),
        }
    }

    /// Where the construct at fault begins (an open quote, the first of two equal keys), if known.
    pub fn related(&self) -> Option<Pos> {
        Some(self.0.related).filter(|pos| pos.is_known())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("yaml: ")?;
        if self.0.quoted_line != 0 {
            write!(f, "line {}: ", self.0.quoted_line)?;
        }
        f.write_str(&self.0.problem)
    }
}

impl std::error::Error for Error {}
