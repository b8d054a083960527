//! Why an evaluation has no value.

use std::{borrow::Cow, fmt};

use crate::value::Value;

#[derive(Clone, Debug)]
pub enum Fault {
    /// There is no variable of this name, which grows while fields of it are asked for.
    Missing(String),
    /// In the words of cel-go.
    Other(Cow<'static, str>),
    /// Nothing may go on after this.
    Exhausted,
}

pub(crate) type Outcome<'a> = Result<Value<'a>, Fault>;

impl Fault {
    pub(crate) const NO_OVERLOAD: Self = Self::Other(Cow::Borrowed("no such overload"));

    /// The same, as a name that does not grow any more.
    pub(crate) fn settled(self) -> Self {
        match self {
            Self::Missing(_) => Self::new(self.to_string()),
            other => other,
        }
    }

    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Other(text.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "no such attribute(s): {name}"),
            Self::Other(text) => f.write_str(text),
            Self::Exhausted => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}

impl std::error::Error for Fault {}
