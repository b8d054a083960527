//! Fields of an object: where they are, what is wrong with them, who owns them.
//!
//! [`Path`] and [`FieldError`] are how validation speaks. Sets of fields and merging by them are the
//! heart of server-side apply.

mod element;
mod error;
mod fields_v1;
pub mod go;
mod manage;
mod order;
mod path;
mod schema;
mod set;
mod typed;

pub use element::{Element, ElementError};
pub use error::{FieldError, FieldErrorKind, Shown};
pub use fields_v1::FieldsError;
pub use manage::{
    ApplyError, Conflict, Conflicts, Filter, ScalePaths, Versions, Write, apply, keep_times,
    scale_from_parent, scale_to_parent, unchanged, update,
};
pub use path::Path;
pub use schema::{List, ListKey, ListMerge, Map, Node, NodeId, Scalar, Schema, SchemaBuilder};
pub use set::FieldSet;
