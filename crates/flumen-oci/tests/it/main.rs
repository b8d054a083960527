//! Registries, layouts and artifacts, against real ones.

mod artifact;
mod client;
mod copy;
mod judges;
mod signature;
