//! Fields of an object: where they are, what is wrong with them, who owns them.
//!
//! [`Path`] and [`FieldError`] are how validation speaks. Sets of fields and merging by them are the
//! heart of server-side apply.

mod error;
mod path;

pub use error::{FieldError, FieldErrorKind, Shown};
pub use path::Path;
