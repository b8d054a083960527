//! A revisioned key-value store with watches, in one file or in memory.
//!
//! ```text
//! commit ─▶ queue ─▶ writer thread: check ─▶ file, one flush a batch ─▶ state ─▶ watchers
//!                                                                         ▲
//! get, range, count ──────────────────────────────────────────────────────┘
//! ```
//!
//! Keys are text and ordered by their bytes; values are bytes. A transaction checks what it relies
//! on, then puts and deletes, all or nothing, and takes one revision. Revisions are those of the
//! whole store and only grow.
//!
//! All live entries are in memory, so reads never touch the file. A commit is answered after the
//! file has been flushed, and only then do readers and watchers see it, in the order of revisions.
//! Transactions that arrive together share a flush.
//!
//! What was replaced or deleted stays readable at its revision, and watches can begin there, until
//! it is compacted: on demand, or when there is more of it than [`Options`] allow. History is not
//! in the file. A store that was opened again is compacted up to its last revision.

#![allow(clippy::disallowed_methods, reason = "the store works on its own file")]

mod checksum;
mod database;
mod entry;
mod error;
mod history;
mod options;
mod rows;
mod state;
mod store;
mod transaction;
mod watch;
mod watchers;
mod writer;

pub use entry::{Entry, Event, Revision};
pub use error::{CommitError, OpenError, ReadError, WatchError};
pub use options::Options;
pub use state::{Page, Range};
pub use store::Store;
pub use transaction::{Condition, Transaction};
pub use watch::Watch;
