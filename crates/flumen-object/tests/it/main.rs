//! Identities and order against what the reference engine says.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod corpus;
