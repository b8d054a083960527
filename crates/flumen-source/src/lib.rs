//! From a source to a verified artifact in a local store.
//!
//! ```text
//! registry ─▶ oci ─┐
//! repository ─▶ git ┼─▶ Ignore ─▶ Storage ─▶ Tree (builds)
//! HTTP ─▶ import ──┤                └──────▶ serve (third parties)
//! directory ─▶ local┘
//! ```
#![allow(clippy::disallowed_methods, reason = "keeps artifacts on disk")]

mod checksum;
pub mod git;
mod go_words;
pub mod import;
mod local;
pub mod oci;
pub mod serve;
mod storage;

pub use checksum::ChecksumError;
pub use go_words::not_reached;
pub use local::{LocalArtifact, LocalChanges, LocalSource};
pub use storage::{Incoming, Owner, Retention, Storage, StorageError, Stored, Unverified};
