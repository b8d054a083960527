//! An OCI distribution 1.1 registry in one directory.
//!
//! ```text
//! request ─▶ server ─▶ auth ─▶ api (one file per endpoint) ─▶ store ─▶ database, blob files
//! ```
//!
//! Metadata live in one database file, blobs in files that are named by their digest. A blob is
//! stored once, however many repositories hold it, but a repository only sees what was pushed or
//! mounted into it.
//!
//! Nothing is visible before it is complete: content is written to a temporary file, flushed, given
//! its name, and only then entered into the database, which is the one place that readers ask.
//! A request is answered after the commit that holds its change has been flushed, so what was
//! acknowledged survives the end of the process, and the loss of power as far as the disk keeps
//! its own promises. Requests that arrive together share a commit. Uploads that are not finished
//! do not survive.
//!
//! The crate shares no code with the client in `flumen-oci`, so that their tests prove something
//! about each other.

#![allow(clippy::disallowed_methods, reason = "the store works on its own directory and clock")]

mod accounts;
mod api;
mod digest;
mod error;
mod manifest;
mod name;
mod options;
mod registry;
mod server;
mod store;
mod uploads;

pub use accounts::Accounts;
pub use error::Error;
pub use options::{Auth, Limits, Options, Report, Tls};
pub use registry::Registry;
pub use server::Server;
pub use store::Collected;

use error::Result;
