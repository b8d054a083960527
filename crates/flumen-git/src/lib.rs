//! Commits of Git repositories as file trees.
//!
//! A repository on this machine is opened where it is; one on a server is fetched over HTTP or ssh,
//! one commit deep where the server allows it. Either way the files are read from the object
//! database: there is no work tree, and no program is started.
//!
//! ```text
//! Access + Limits ─▶ Client
//! GitUrl + GitReference ─▶ resolve ─▶ commit ─▶ open ─▶ Checkout { commit, tree } ─▶ verify
//! ```
//!
//! [`Remotes`] is what a kustomize build asks for what is not on this machine: repositories, through
//! the same code, and single files.
//!
//! Everything here blocks the thread that calls it, for as long as [`Limits`] allow. Asynchronous
//! callers move it to a thread that may block.
#![allow(
    clippy::disallowed_methods,
    reason = "opens repositories on disk and keeps fetched ones in scratch directories"
)]

mod access;
mod checkout;
mod client;
mod connection;
mod error;
mod http;
mod limits;
mod local;
mod metadata;
mod objects;
mod receive;
mod reference;
mod remotes;
mod ssh;
mod submodules;
mod target;
mod transport;
mod tree;
mod url;
mod verify;
mod waiting;
mod work_tree;

use std::sync::atomic::AtomicBool;

pub use access::{Access, Authorization, ClientCertificate, Proxy, SshIdentity};
pub use checkout::{Checkout, Commit};
pub use client::{Client, Selection};
pub use error::Error;
pub use limits::Limits;
pub use metadata::{CommitMetadata, Person, Signed, TagMetadata};
pub use reference::GitReference;
pub use remotes::Remotes;
pub use ssh::SshAlgorithms;
pub use url::GitUrl;
pub use verify::{TrustedKeys, VerificationMode, Verified, VerifyError, verify};
pub use work_tree::WorkTree;

/// Finds out which commit a reference stands for, with what the address has in credentials.
pub fn resolve(
    url: &GitUrl,
    reference: &GitReference,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Commit, Error> {
    Client::new(Access::default(), limits.clone()).resolve(url, reference, cancel)
}

/// Opens the commit that a reference stands for, with what the address has in credentials.
pub fn open(
    url: &GitUrl,
    reference: &GitReference,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Checkout, Error> {
    let client = Client::new(Access::default(), limits.clone());
    client.open(url, reference, &Selection::default(), cancel)
}
