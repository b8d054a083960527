//! The registry as clients see it.

mod client;
mod manifests;
mod push_pull;
