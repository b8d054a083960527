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

#![allow(clippy::disallowed_methods, reason = "state is files")]

mod error;
mod home;
mod instance;
mod kubeconfig;
mod server;
mod token;

pub use error::Error;
pub use home::{Home, Record, State};
pub use instance::{Instance, InstanceOptions};
pub use kubeconfig::{CONTEXT, context_of, kubeconfig};
pub use server::{ApiServer, ApiServerOptions};
