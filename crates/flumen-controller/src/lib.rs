//! Reconciles sources and Kustomizations with a cluster, as Flux does, without asking what it can know by watching.
//!
//! [`run`] is the whole controller. [`kinds`] registers what is reconciled; [`kustomize`] and [`source`] are the families
//! of kinds.
#![allow(clippy::disallowed_methods, reason = "waits, and writes files of its own storage")]

mod kinds;
mod kustomize;
mod options;
mod run;
mod source;

pub use flumen_runtime::{Election, Key, Listen, Options as RuntimeOptions, Rival};
pub use kinds::{EXTERNAL_ARTIFACT, GIT_REPOSITORY, KUSTOMIZATION, OCI_REPOSITORY};
pub use kustomize::{is_flux_component, owner};
pub use options::{KustomizeOptions, Options, SourceOptions};
pub use run::{RunError, run};
