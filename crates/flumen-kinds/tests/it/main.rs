//! What needs more than the crate: recorded answers, and a real API server.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod corpus;
mod decode;
mod defaults;
mod manifests;
mod random;
mod real;
mod refusals;
mod validation;
