//! Repositories made by the real Git, on disk and behind its HTTP server.
#![allow(clippy::disallowed_methods, reason = "tests look at what is on disk")]

mod builds;
mod limits;
mod repositories;
mod ssh;
mod trees;
