//! Commits of Git repositories as file trees.
//!
//! A repository on this machine is opened where it is; one on a server is fetched over HTTP, one
//! commit deep. Either way the files are read from the object database: there is no work tree, and
//! no program is started.
//!
//! ```text
//! GitUrl + GitReference ─▶ resolve ─▶ commit ─▶ open ─▶ Checkout { commit, tree }
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

mod checkout;
mod connection;
mod error;
mod http;
mod limits;
mod local;
mod objects;
mod reference;
mod remotes;
mod transport;
mod tree;
mod url;

pub use checkout::{Checkout, Commit, open, resolve};
pub use error::Error;
pub use limits::Limits;
pub use reference::GitReference;
pub use remotes::Remotes;
pub use url::GitUrl;
