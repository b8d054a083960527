//! Health of objects, seen from outside the crate.

mod corpus;
