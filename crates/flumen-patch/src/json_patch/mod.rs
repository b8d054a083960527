//! JSON patch (RFC 6902) as the Go library does it that kustomize uses.
//!
//! The library is more lenient than the RFC: `replace` adds what is missing, `test` finds null where
//! there is nothing, indices may be negative, and a value that is left out is null. It also knows
//! no limit, so a few `copy` operations that double their object exhaust any memory; here they end
//! at a budget.
//!
//! Kustomize turns the whole object into JSON and back for a patch. Here it is changed in place, and
//! [`normal`] does to the rest what that passage would have done.

mod apply;
mod normal;
mod operation;
mod pointer;
#[cfg(test)]
mod tests;

pub use operation::JsonPatch;
