//! The registry as clients see it.

#![allow(clippy::disallowed_methods, reason = "tests look at the directory of the registry")]

mod access;
mod client;
mod crash;
mod garbage;
mod judges;
mod limits;
mod lists;
mod manifests;
mod push_pull;
