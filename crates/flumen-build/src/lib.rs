//! From what a user names on the command line or in a component to one ordered set of objects.
//!
//! Inputs are kustomizations, files and documents; patches go over all of them; the result is in the
//! order in which it will be applied.

mod error;
mod inputs;

pub use error::Error;
pub use inputs::{Built, Inputs, Options, build};
