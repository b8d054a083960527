//! From a source to a verified artifact in a local store.

pub mod git;
