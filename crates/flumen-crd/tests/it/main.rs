//! Custom resources, from the outside.

mod corpus;
