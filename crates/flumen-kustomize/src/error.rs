//! The one error of a build.
//!
//! A build fails for hundreds of reasons and its callers treat them all alike: they show them. So
//! this is one type with parts (what, where, on the way to what, what to try), not an enum with
//! a variant for each sentence. Where kustomize has words for a mistake, the message has them too,
//! because people search for them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use flumen_fs::{Bounds, Tree};
use flumen_yaml::Pos;

use crate::aside::Aside;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a build failed.
#[derive(Debug)]
pub struct Error(Box<Parts>);

#[derive(Debug)]
struct Parts {
    message: String,
    location: Option<Location>,
    hint: Option<String>,
    /// Innermost first, as it is collected on the way out.
    context: Vec<String>,
    /// What kustomize says besides, each with how much of the context is inside of it.
    asides: Vec<(usize, Aside)>,
    /// Whether the line at the location may hold a secret.
    is_private: bool,
}

/// A place in a file.
#[derive(Clone, Debug)]
pub struct Location {
    pub file: PathBuf,
    pub pos: Pos,
    /// The line itself, unless it may hold a secret.
    pub line_text: Option<String>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            message: message.into(),
            location: None,
            hint: None,
            context: Vec::new(),
            asides: Vec::new(),
            is_private: false,
        }))
    }

    /// Says where the mistake is. The innermost place wins: it is the most precise.
    #[must_use]
    pub(crate) fn at(mut self, file: &Path, pos: Pos) -> Self {
        self.0.location.get_or_insert_with(|| Location {
            file: file.to_owned(),
            pos,
            line_text: None,
        });
        self
    }

    /// Keeps the line at the location out of messages.
    #[must_use]
    pub(crate) fn keep_private(mut self) -> Self {
        self.0.is_private = true;
        self
    }

    /// Says what to try. The innermost hint wins.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Says what is wrong in other words; the first ones go to the hint. The place stays.
    #[must_use]
    pub(crate) fn reworded(mut self, message: impl Into<String>) -> Self {
        let first = std::mem::replace(&mut self.0.message, message.into());
        self.0.hint = Some(match self.0.hint.take() {
            Some(hint) => format!("{first}; {hint}"),
            None => first,
        });
        self
    }

    /// Says what was being done, from the inside out.
    #[must_use]
    pub(crate) fn within(mut self, doing: impl Into<String>) -> Self {
        self.0.context.push(doing.into());
        self
    }

    /// Notes what kustomize would say besides, which helps nobody but those who compare.
    #[must_use]
    pub(crate) fn aside(mut self, aside: Aside) -> Self {
        let inside = self.0.context.len();
        self.0.asides.push((inside, aside));
        self
    }

    /// Adds the line that the location names, unless the file may hold secrets or cannot be read.
    #[must_use]
    pub(crate) fn with_line_text(mut self, tree: &dyn Tree) -> Self {
        let Parts { location, is_private, .. } = &mut *self.0;
        if let Some(location) = location
            && !*is_private
            && location.pos.is_known()
            && location.line_text.is_none()
            && let Ok(bytes) = tree.read(&location.file, Bounds::Anywhere)
        {
            let line = usize::try_from(location.pos.line).unwrap_or(usize::MAX);
            let text = String::from_utf8_lossy(&bytes);
            // Literals of a secret may stand on the very line of the mistake.
            let line = text.lines().nth(line - 1).filter(|line| !line.contains("literals"));
            location.line_text = line.map(ToOwned::to_owned);
        }
        self
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it is wrong.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// What to try.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// What was being done, innermost first.
    pub fn context(&self) -> &[String] {
        &self.0.context
    }

    /// The whole sentence as kustomize has it, for those who read its messages with programs.
    pub fn in_kustomize_words(&self) -> String {
        let mut asides = self.0.asides.iter().peekable();
        let mut text = self.0.message.clone();
        for inside in 0..=self.0.context.len() {
            while let Some((_, aside)) = asides.next_if(|(at, _)| *at == inside) {
                text = aside.around(text);
            }
            if let Some(doing) = self.0.context.get(inside) {
                text = format!("{doing}: {text}");
            }
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for doing in self.0.context.iter().rev() {
            write!(f, "{doing}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

/// Adds "while doing this" to whatever went wrong inside.
pub(crate) trait Context<T> {
    fn within<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Result<T>;
}

impl<T> Context<T> for Result<T> {
    fn within<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Self {
        self.map_err(|error| error.within(doing()))
    }
}
