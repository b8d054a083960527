//! Reconciles sources and Kustomizations with a cluster, as Flux does, without asking what it can know by watching.
//!
//! ```text
//! watches ─▶ cache ─▶ triggers ─▶ queue ─▶ a pass over one object ─▶ status, events
//!              └────────── what is applied and how it is ──┘
//! ```
//!
//! [`run`] is the whole controller. [`queue`] decides when an object gets its turn; [`kustomization`] and [`sources`]
//! are what happens then.
#![allow(clippy::disallowed_methods, reason = "waits, retries and tells the time in statuses")]

mod assemble;
mod cache;
mod controller;
mod election;
mod endpoints;
mod events;
mod index;
mod json;
mod key;
mod kustomization;
mod malformed;
mod metrics;
mod moved;
mod options;
mod queue;
mod references;
mod rivals;
mod run;
mod sources;
mod status;
mod triggers;

pub(crate) use controller::Controller;
pub use election::Election;
pub use endpoints::Listen;
pub use key::{Key, Kind};
pub use kustomization::{is_flux_component, owner};
pub use options::Options;
pub use rivals::Rival;
pub use run::{RunError, run};
