//! The client against a real API server, and against answers that a real one gives too rarely to wait for.
#![allow(clippy::disallowed_methods, reason = "tests may touch the disk")]

mod answers;
mod connecting;
mod credentials;
mod discovery;
mod identities;
mod leases;
mod lists;
mod objects;
mod rare_answers;
mod refusals;
mod retries;
mod support;
mod watches;
