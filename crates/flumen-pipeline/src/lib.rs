//! Components: their configuration, their builds, and their deploys to installs.
//!
//! ```text
//! component file ─▶ config ─▶ plan ─▶ job ─▶ source ─▶ artifact ─▶ registry or local store
//!                                              ▲           │
//!                                            cache ◀───────┘
//! ```
//!
//! [`build`](fn@build) runs one component through all of it; [`prune`](mod@prune) collects what is left.
//!
//! ```text
//! install file ─▶ install ─▶ values ─┐
//! artifact ─▶ sync ─▶ pull ─▶ template ─▶ plan ─▶ approval ─▶ apply ─▶ cluster
//! ```
//!
//! [`deploy`] takes one component through that, and several in the order of their [`graph`].
#![allow(clippy::disallowed_methods, reason = "keeps builds and their records on disk")]

mod build;
mod build_id;
mod cache;
pub mod config;
mod credentials;
pub mod deploy;
mod error;
pub mod graph;
pub mod install;
pub mod job;
mod plan;
pub mod prune;
mod recording;
pub mod schedule;
mod source;
mod state;
mod sync;
pub mod template;

pub use build::{
    Artifact, BuildOrder, Caching, Destination, Environment, OutputFile, OutputImage, Outputs,
    Registries, Remote, build, build_all, build_plan,
};
pub use build_id::{BuildId, NotABuildId};
pub use credentials::StoredCredentials;
pub use error::{Error, Result};
pub use plan::{BuildPlan, GitSource, InlineManifest, KustomizeConfig, ManifestPlan};
pub use state::State;
pub use sync::sync;
