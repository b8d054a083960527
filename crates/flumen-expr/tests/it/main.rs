//! Constraints, versions and substitution against what the reference libraries say.

mod corpus;
mod envsubst;
mod recorded;
