//! From a source to a verified artifact in a local store.
//!
//! ```text
//! registry ─▶ oci ─┐
//! repository ─▶ git ┼─▶ ignore ─▶ Storage ─▶ Tree (builds)
//! HTTP ─▶ import ──┤                └──────▶ serve (third parties)
//! directory ─▶ local┘
//! ```
#![allow(clippy::disallowed_methods, reason = "keeps artifacts on disk")]

mod checksum;
pub mod git;
pub mod ignore;
pub mod import;
mod local;
pub mod oci;
pub mod serve;
mod storage;

pub use checksum::ChecksumError;
pub use local::{LocalArtifact, LocalChanges, LocalSource};
pub use storage::{Files, Incoming, Owner, Retention, Storage, StorageError, Stored, Unverified};
