//! Sources: what they name is fetched, verified and stored.
//!
//! [`pass`] is one pass over a source of any kind; what is particular to a kind is its [`Source`], in a file of its own.
//! [`local`] is what answers instead where a directory of this machine stands for a source.

mod artifacts;
mod git;
pub(crate) mod local;
mod oci;
mod pass;

pub(crate) use artifacts::Artifacts;
pub(crate) use pass::reconcile;
