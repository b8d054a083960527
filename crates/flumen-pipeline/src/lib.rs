//! Components: their configuration, their builds and where the results are kept.
//!
//! ```text
//! component file ─▶ config ─▶ plan ─▶ job ─▶ source ─▶ artifact ─▶ registry or local store
//!                                              ▲           │
//!                                            cache ◀───────┘
//! ```
//!
//! [`build`](fn@build) runs one component through all of it; [`sync`](fn@sync) takes the result further;
//! [`prune`](mod@prune) collects what is left.
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
