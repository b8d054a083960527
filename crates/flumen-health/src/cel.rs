//! Expressions in CEL, the language in which people say when their own kinds are healthy.
//!
//! ```text
//! text ─▶ limits ─▶ parser ─▶ tree ─┬─▶ evaluation against an object ─▶ value
//!                                   └─▶ checker (where types are demanded beforehand)
//! ```
//!
//! The parser is that of the `cel` crate, which stands on the grammar of cel-go and has its messages.
//! Checking and evaluating are done here: an evaluation borrows from the tree of the object, has a
//! budget that nothing exceeds, visits mappings in their own order, and speaks of failures in the
//! words of cel-go, which people find in Flux's documentation and in their events.
//! The functions are those of Flux: the standard ones, optional values, strings, sets, base 64.

mod budget;
mod check;
mod convert;
mod eval;
mod expression;
mod format;
mod functions;
mod lexer;
mod limits;
mod operators;
mod overloads;
mod places;
mod strings;
mod time;
mod types;
mod value;

use budget::Budget;
pub(crate) use expression::Expression;
pub use expression::{CompileError, EvaluationError};
pub use limits::TooLarge;

/// Why an evaluation has no value.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// There is no variable of this name, which grows while fields of it are asked for.
    Missing(String),
    /// In the words of cel-go.
    Other(std::borrow::Cow<'static, str>),
    /// Nothing may go on after this.
    Exhausted,
}

type Outcome<'a> = Result<value::Value<'a>, Fault>;

impl Fault {
    const NO_OVERLOAD: Self = Self::Other(std::borrow::Cow::Borrowed("no such overload"));

    /// The same, as a name that does not grow any more.
    fn settled(self) -> Self {
        match self {
            Self::Missing(_) => Self::new(self.to_string()),
            other => other,
        }
    }

    fn new(text: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::Other(text.into())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "no such attribute(s): {name}"),
            Self::Other(text) => f.write_str(text),
            Self::Exhausted => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}
