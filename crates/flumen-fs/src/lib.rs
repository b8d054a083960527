//! Rooted file trees: where builds read from.
//!
//! A build never touches the disk itself; it asks a [`Tree`], and says with [`Bounds`] which part of
//! the tree the file may come from. The bounds hold for the file that is *opened*, after every
//! symbolic link, so swapping a directory for a link while a build runs opens nothing outside.
//!
//! Paths are cleaned lexically before anything looks at them: `a/../b` is `b` even where `a` is a
//! link, because that is how Kustomize joins paths. Relative paths start at the current directory
//! (on disk) or at `/` (in memory).
#![allow(clippy::disallowed_methods, reason = "this is the crate that reads files")]

mod clean;
mod disk;
mod error;
mod memory;
mod remote;
mod staged;
mod text;
mod tree;

pub use clean::clean;
pub use disk::DiskTree;
pub use error::FsError;
pub use memory::MemoryTree;
pub use remote::{RemoteError, RemoteTree, RemoteTrees, RepositoryRequest, printable};
pub use staged::StagedFiles;
pub use text::read_text;
pub use tree::{Bounds, Entry, EntryKind, MAX_FILE_SIZE, Tree};
