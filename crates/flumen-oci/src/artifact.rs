//! How manifests are packed into an artifact, and how they are read back.
//!
//! Three ways of packing ([`Format`]) and one more that is only read; the reader tells them apart by
//! what the manifest says, so nobody has to.
//!
//! ```text
//! text or directory ─▶ layer ─▶ Packed ─▶ Repository
//! text or directory ◀─ sink ◀─ unpack ◀── Repository
//! ```

#![allow(clippy::disallowed_methods, reason = "artifacts are unpacked to disk")]

mod about;
pub(crate) mod annotations;
mod checksum;
mod compare;
mod encryption;
mod extract;
mod layer;
mod pack;
mod pull;
mod push;
mod read;
mod text;
mod transfer;
mod tree;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use self::{
    about::About,
    compare::{Change, ChangeKind, compare_with_path},
    encryption::{Identities, Recipients},
    extract::extract_layer,
    pack::{Packed, pack_encrypted, pack_yaml},
    pull::{PullOptions, Pulled, PulledFiles, pull, pull_to_dir},
    push::{Tagging, push_yaml},
    read::Image,
    tree::{pack_path, pack_text, text_file_name},
};

/// How content is laid out in an artifact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One layer with `all.yaml`, as kustomizer writes it.
    #[default]
    Kustomizer,
    /// The same layer under an OCI 1.1 manifest with an artifact type.
    Oci,
    /// A directory as it is, as `flux push artifact` writes it.
    Flux,
}

/// What is said about an artifact beside its content.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// Where the content comes from; empty if that is not known.
    pub source: String,
    /// Which state of the source; `branch@sha1:commit` by convention.
    pub revision: String,
    pub created: Timestamp,
    /// Further annotations, which win over those that are derived.
    pub annotations: BTreeMap<String, String>,
}

/// Without a source, created in 1970: equal content is an equal artifact.
impl Default for Metadata {
    fn default() -> Self {
        Self {
            source: String::new(),
            revision: String::new(),
            created: Timestamp::UNIX_EPOCH,
            annotations: BTreeMap::new(),
        }
    }
}
