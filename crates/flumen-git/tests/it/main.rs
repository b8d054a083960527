//! Repositories made by the real Git, on disk and behind its HTTP server.
#![allow(clippy::disallowed_methods, reason = "tests look at what is on disk")]

mod access;
mod builds;
mod limits;
mod proxies;
mod repositories;
mod signatures;
mod ssh;
mod submodules;
mod tls;
mod trees;
