//! What the tests of the other crates share: golden cases, scratch trees, differences.
//!
//! A golden case is a small file tree and what the reference tool printed for it, kept as one
//! readable text file (see [`archive`]). The tree is written to a scratch directory, a command
//! runs there, and [`Case::judge`] says in words how the answer differs:
//!
//! ```text
//! corpus/…/behaviour.txt ─▶ Case ─▶ scratch directory ─▶ Outcome ─▶ verdict
//! ```
//!
//! Only tests and `xtask` depend on this crate, so it may touch the disk and the clock directly.
#![allow(clippy::disallowed_methods)]

pub mod archive;
#[cfg(feature = "network")]
mod background;
mod case;
#[cfg(feature = "network")]
mod certificate;
mod diff;
mod git_server;
mod judge;
#[cfg(feature = "network")]
mod kube;
mod kube_programs;
mod outside;
mod port;
mod process;
mod random;
#[cfg(feature = "network")]
mod real_registry;
#[cfg(feature = "network")]
mod registries;
#[cfg(unix)]
mod ssh_server;
mod tools;

pub use archive::{Archive, ArchiveError, Content, Entry};
pub use case::{Case, CaseError, Expected};
#[cfg(feature = "network")]
pub use certificate::Certificate;
pub use diff::difference;
pub use git_server::{GitRepository, GitServer};
pub use judge::Judge;
#[cfg(feature = "network")]
pub use kube::{Fault, FaultPlan, KubeCluster, KubeProxy, KubeRequest};
pub use kube_programs::{KUBE_PROGRAMS, TEST_SERVER_VARIABLE, kube_program, named_kube_programs};
pub use outside::{repository_root, shared_dir, skip};
pub use port::{free_address, free_port};
pub use process::{Outcome, PATIENCE, run};
pub use random::Random;
#[cfg(feature = "network")]
pub use real_registry::{
    REGISTRY_PASSWORD, REGISTRY_USER, RealRegistry, RegistryKind, RegistryOptions,
};
#[cfg(feature = "network")]
pub use registries::{EmbeddedRegistry, TestRegistry, for_each_registry};
#[cfg(unix)]
pub use ssh_server::{SshKey, SshServer};
pub use tools::{Origin, PEERS, TOOLS, TOOLS_VARIABLE, Tool, tool, tool_cache};
