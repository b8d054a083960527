//! Reconciling a repository for Flux on a cluster of this machine.
//!
//! ```text
//! FluxRepository, LocalSource ─▶ Bootstrap ─▶ cluster ─▶ LocalController
//! ```

mod bootstrap;
mod controller;
mod repository;
mod source;

pub use bootstrap::Bootstrap;
pub use controller::LocalController;
pub use repository::FluxRepository;
pub use source::LocalSource;

/// The namespace of Flux, and of sources that are in no repository.
const NAMESPACE: &str = "flux-system";
/// The address of a source without one; no host has such a name.
const NOWHERE: &str = "https://local.invalid";
