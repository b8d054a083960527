//! Sources against real servers and a real disk.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at files themselves"
)]

mod git;
mod import;
mod local;
mod oci;
mod serve;
mod storage;
mod stub;
