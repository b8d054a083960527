//! Registries, layouts and artifacts, against real ones.

mod client;
mod signature;
