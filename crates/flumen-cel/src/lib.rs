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
mod collection;
mod convert;
mod estimate;
mod eval;
mod fault;
mod format;
mod functions;
mod lexer;
mod library;
mod limits;
mod macros;
mod operators;
mod overloads;
mod places;
mod program;
mod regex;
mod shape;
mod strings;
mod text;
mod time;
mod types;
mod url;
mod value;

pub use budget::Budget;
pub use collection::{Entries, List};
pub use convert::double_to_text;
pub use fault::Fault;
use fault::Outcome;
pub use library::{Authorizer, Decision, Question};
pub use limits::TooLarge;
pub use program::{CompileError, Dialect, Program};
pub use regex::{Regex, pattern};
pub use shape::{Field, Identity, Shape, ShapeKind, escape};
pub use text::Text;
pub use time::parse_lenient_duration;
pub use types::{Record, Type};
pub use url::{Url, is_absolute_url, is_request_uri};
pub use value::Value;
