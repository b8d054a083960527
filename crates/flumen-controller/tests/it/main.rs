//! The controller on an API server, with artifacts in a registry.
#![allow(clippy::disallowed_methods, reason = "tests look at clocks and files")]

mod fixture;

mod delivery;
mod dependencies;
mod failures;
mod requests;
mod sources;
mod words;
