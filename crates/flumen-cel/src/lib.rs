//! Expressions in CEL, the language in which people ask questions about objects.
//!
//! ```text
//! text ─▶ limits ─▶ parser ─▶ tree ─┬─▶ evaluation against objects ─▶ value
//!                                   └─▶ checker (where types are demanded beforehand)
//! ```
//!
//! The parser is that of the `cel` crate, which stands on the grammar of cel-go and has its messages.
//! Checking and evaluating are done here: an evaluation borrows from the object, has a budget that
//! nothing exceeds, visits mappings in their own order, and speaks of failures in the words of cel-go,
//! which people find in the documentation of Kubernetes and Flux and in their events.

mod budget;
mod check;
mod convert;
mod eval;
mod fault;
mod format;
mod functions;
mod lexer;
mod limits;
mod operators;
mod overloads;
mod places;
mod program;
mod strings;
mod text;
mod time;
mod types;
mod value;

pub use budget::Budget;
pub use fault::Fault;
use fault::Outcome;
pub use limits::TooLarge;
pub use program::{CompileError, Program};
pub use text::Text;
pub use types::Type;
pub use value::{Entries, List, Value};
