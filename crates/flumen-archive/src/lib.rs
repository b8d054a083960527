//! Tar archives, compressed with gzip: packing, unpacking and the rules for what stays out.
//!
//! ```text
//! Tree or directory ─▶ Ignore ─▶ pack ─▶ ArchiveWriter ─▶ bytes
//! Tree or directory ◀─ Sink ◀─ unpack ◀─ Budget, EntryLimits ◀─ bytes
//! ```
//!
//! Packing is deterministic: the same content gives the same bytes on any machine. Unpacking trusts
//! nothing: each entry is checked and each byte counted before it is kept.
#![allow(
    clippy::disallowed_methods,
    reason = "packs directories with the modes and links that a `Tree` hides"
)]

mod contents;
mod directory;
mod entry_path;
mod error;
mod ignore;
mod limits;
mod pack;
mod unpack;
mod write;

pub use contents::{Contents, ContentsIndex, ContentsTree};
pub use directory::Directory;
pub use entry_path::safe_path;
pub use error::{PackError, UnpackError};
pub use ignore::{GIT_DIRECTORY, Ignore};
pub use limits::{Budget, EntryLimits, Meter};
pub use pack::{Files, PathOptions, pack_path, pack_tree};
pub use unpack::{Compression, FileEntry, Rules, Sink, UnpackOptions, unpack};
pub use write::{ArchiveWriter, Gzip};
