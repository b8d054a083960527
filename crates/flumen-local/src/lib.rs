//! A cluster on one machine: API server, controllers and registry over one directory.
//!
//! ```text
//! DIRECTORY/
//!   lock            held by the process that serves it
//!   instance.json   where that process listens, or listened last
//!   kubeconfig      how clients reach it
//!   admin.token     who may do everything
//!   objects.redb    all objects
//!   keys/           certificates and signing keys of the API server
//!   registry/       what was pushed
//!   artifacts/      of sources, if a controller runs beside it
//! ```

//!
//! With the feature `delivery`, also what is delivered to it: a directory as an artifact of the registry, or a repository
//! for Flux that a controller reconciles.

#![allow(clippy::disallowed_methods, reason = "state is files")]

#[cfg(feature = "delivery")]
mod delivery;
mod error;
#[cfg(feature = "delivery")]
mod flux;
mod home;
mod instance;
mod kubeconfig;
mod server;
mod token;

#[cfg(feature = "delivery")]
pub use delivery::{DeliveryError, Place, Pushed, build_directory, directory_name};
pub use error::Error;
#[cfg(feature = "delivery")]
pub use flux::{Bootstrap, FluxRepository, LocalController, LocalSource};
pub use home::{Home, Record, State};
pub use instance::{Instance, InstanceOptions};
pub use kubeconfig::{CONTEXT, context_of, kubeconfig, merge_kubeconfig};
pub use server::{ApiServer, ApiServerOptions};
