//! Why a tree could not be printed, and where.

use std::fmt::{self, Write as _};

use thiserror::Error;

use crate::{Pos, Tag};

/// A value that has no printed form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{reason}", at_field(.path))]
pub struct EmitError {
    /// The field, like `spec.containers[0].args[1]`; empty for the document itself.
    pub path: String,
    /// Where the value was read, if it was.
    pub pos: Pos,
    pub reason: Unprintable,
}

fn at_field(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

/// What is wrong with a value that has no printed form.
///
/// Most of these are limits of the way through JSON that printing follows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unprintable {
    #[error("JSON has no number for {0}")]
    NotFinite(&'static str),
    #[error("`{text}` is no {}", kind(*.tag))]
    Mistagged { tag: Tag, text: String },
    #[error("invalid base64 data in a !!binary value")]
    Base64,
    #[error("a timestamp cannot have a time zone of 24 hours or more")]
    TimeZone,
    #[error("control character U+{:04X} is not allowed", *.0 as u32)]
    ControlCharacter(char),
    #[error("a line inside the text starts with a document marker (`---` or `...`)")]
    DocumentMarker,
    #[error("a key must not contain the line break U+0085")]
    BreakInKey,
    #[error("the key is longer than 1022 characters of JSON")]
    LongKey,
    #[error("a block of several lines must not start with a tab")]
    LeadingTab,
    #[error("the key `<<` is a merge key when it is read back")]
    MergeKey,
}

fn kind(tag: Tag) -> &'static str {
    match tag {
        Tag::Null => "null",
        Tag::Bool => "boolean",
        Tag::Int => "integer",
        Tag::Float => "number",
        Tag::Timestamp => "timestamp",
        Tag::Str | Tag::Binary | Tag::Merge => "string",
    }
}

/// An error on its way up: every level adds its own step.
#[derive(Debug)]
pub(crate) struct Failure(Box<(Vec<Step>, Pos, Unprintable)>);

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    fn write(&self, path: &mut String) -> fmt::Result {
        match self {
            Self::Index(index) => write!(path, "[{index}]"),
            Self::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '\n']) => {
                write!(path, "[{key:?}]")
            }
            Self::Key(key) if path.is_empty() => write!(path, "{key}"),
            Self::Key(key) => write!(path, ".{key}"),
        }
    }
}

impl Failure {
    pub(crate) fn new(pos: Pos, reason: Unprintable) -> Self {
        Self(Box::new((Vec::new(), pos, reason)))
    }

    pub(crate) fn in_key(mut self, key: &str) -> Self {
        self.0.0.push(Step::Key(key.to_owned()));
        self
    }

    pub(crate) fn in_index(mut self, index: usize) -> Self {
        self.0.0.push(Step::Index(index));
        self
    }
}

impl From<Failure> for EmitError {
    fn from(failure: Failure) -> Self {
        let (steps, pos, reason) = *failure.0;
        let mut path = String::new();
        for step in steps.iter().rev() {
            // Writing to a string cannot fail.
            let _ = step.write(&mut path);
        }
        Self { path, pos, reason }
    }
}
