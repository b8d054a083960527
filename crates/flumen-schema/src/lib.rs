//! Facts of the Kubernetes API: merge keys, list types, scopes.
//!
//! Two releases matter and they must not be mixed. [`Schema`] is what kustomize knows, an old
//! release plus whatever document a kustomization brings along; it decides how patches merge and
//! which objects take a namespace, and output that is exact to the byte depends on its gaps.
//! [`server`] is what a current API server says of itself, and [`api`] all that it needs to know to
//! be one.
//!
//! All are compiled into the program, and nothing is parsed when it starts.
//!
//! ```text
//! Schema ─ root(apiVersion, kind) ─▶ TypeRef ─ field, element ─▶ TypeRef ─▶ merge keys
//! ```

pub mod api;
mod builtin;
mod document;
mod error;
mod generated;
mod schema;
pub mod server;
pub mod typed;

pub use error::Error;
pub use schema::{MergeKeys, Schema, TypeRef};
pub use server::Topology;
