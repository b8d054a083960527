//! `kustomize build`, natively.
//!
//! A build reads a tree of kustomizations and ends in an ordered set of objects:
//!
//! ```text
//! kustomization file ─▶ resources, bases, components ─▶ generators ─▶ transformers ─▶ validators
//!                                     │ (once for each kustomization, innermost first)
//!                                     ▼
//!            hash suffixes ─▶ name references ─▶ variables ─▶ order ─▶ objects
//! ```
//!
//! Resources carry their history (former names, prefixes, behaviour of a generator) beside the tree,
//! never inside it; see [`resource`].

mod accumulate;
mod aside;
mod build_annotations;
mod build_metadata;
mod config;
mod configurations;
mod content;
mod crds;
mod decode;
mod error;
mod field_path;
mod fieldspec;
mod generate;
mod go_float;
mod id;
mod kustomization;
mod links;
mod loader;
mod plugins;
mod read;
mod resmap;
mod resource;
mod scalar;
mod select;
mod session;
mod transform;
mod vars;

pub use error::{Error, Location};
pub use kustomization::{FILE_NAMES, typed_kustomization};
pub use loader::{LoadRestriction, RemoteSource};
pub use read::check_manifests;
pub use session::{Build, KUSTOMIZE_VERSION, Options, Reorder, Session};
