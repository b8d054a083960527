//! The controller on an API server, with artifacts in a registry.
#![allow(clippy::disallowed_methods, reason = "tests look at clocks and files")]

mod fixture;

mod crash;
mod definitions;
mod delivery;
mod dependencies;
mod drift;
mod failures;
mod git;
mod graph;
mod health;
mod malformed;
mod operations;
mod peer;
mod requests;
mod sources;
mod words;
