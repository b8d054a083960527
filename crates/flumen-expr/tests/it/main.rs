//! Constraints and versions against what the reference libraries say.

mod corpus;
mod recorded;
