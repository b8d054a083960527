//! Sources: what they name is fetched, verified and stored.
//!
//! [`pass`] is one pass over a source of any kind; what is particular to a kind is its [`Source`], in a file of its own.

mod artifacts;
mod git;
mod oci;
mod pass;

pub(crate) use artifacts::Artifacts;
pub(crate) use pass::reconcile;
