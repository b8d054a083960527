//! What is wrong with a configuration file.

use std::path::{Path, PathBuf};

use flumen_yaml::Pos;
use thiserror::Error;

/// A broken rule and where it was broken.
///
/// The message is the rule's own text, because people and programs look for it; the place stands
/// beside it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ConfigError {
    file: PathBuf,
    pos: Pos,
    message: String,
    hint: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(file: &Path, pos: Pos, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), pos, message: message.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where in the file; line 0 stands for the file as a whole.
    pub const fn pos(&self) -> Pos {
        self.pos
    }

    /// What to try.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
