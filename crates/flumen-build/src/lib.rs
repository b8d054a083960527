//! From what a user names on the command line or in a component to one ordered set of objects.
//!
//! Inputs are kustomizations, files and documents; patches go over all of them; the result is in the
//! order in which it will be applied.
//!
//! ```text
//! kustomizations ─┐
//! files ──────────┼─▶ objects ─▶ patch file ─▶ patch file ─▶ … ─▶ apply order ─▶ text
//! documents ──────┘
//! ```
//!
//! [`flux`] is the build of a Flux Kustomization, which has rules of its own.

mod documents;
mod error;
mod files;
pub mod flux;
mod inputs;
mod patches;

pub use documents::{check_documents, objects_from, objects_of};
pub use error::Error;
pub use inputs::{Built, Inputs, Options, build};
