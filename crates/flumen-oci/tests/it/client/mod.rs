//! The registry client.

mod registries;
