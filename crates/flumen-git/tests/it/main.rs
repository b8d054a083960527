//! Repositories made by the real Git, on disk and behind its HTTP server.

mod limits;
mod repositories;
mod trees;
