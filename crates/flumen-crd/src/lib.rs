//! Custom resources: definitions, schemas, and what the API server does with objects of them.
//!
//! ```text
//! CustomResourceDefinition ─▶ validate_create, validate_update
//!        │ accept_names, establish (status)
//!        ▼
//!     Served ─▶ Version: admit ─▶ default ─▶ prepare ─▶ validate ─▶ stored object
//!                        cells, scale, published schema, merging by apply
//! ```
//!
//! Everything here is pure: objects in, objects and problems out, in the words of the API server.
//! Rules in CEL have a budget, and so has validation by schemas.

mod apply_schema;
mod check;
mod columns;
mod compiled;
mod defaults;
mod definition;
mod embedded;
mod field_path;
mod formats;
mod jsonpath;
mod list_types;
mod names;
mod number;
mod openapi;
mod prune;
mod rules;
mod scale;
mod schema;
mod served;
mod shape;
mod status;

pub use columns::Column;
pub use definition::{validate_create, validate_status, validate_update, warnings};
pub use openapi::{OpenApi, Published};
pub use scale::{Scale, ScaleError};
pub use served::{Served, Verdict, Version};
pub use status::{accept_names, compare_versions, establish, prepare_create, prepare_update};
