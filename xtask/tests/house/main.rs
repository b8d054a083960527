//! Rules of the house that no compiler checks.
#![allow(clippy::disallowed_methods, reason = "the rules are about files")]

mod layers;
mod tidy;
