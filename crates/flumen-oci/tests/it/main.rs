//! Registries, layouts and artifacts, against real ones.
#![allow(clippy::disallowed_methods, reason = "tests may touch the disk")]

mod artifact;
mod client;
mod copy;
mod judges;
mod signature;
mod stub;
