//! Kustomizations: one pass over one of them.
//!
//! [`pass`] shows the steps in their order, [`depends`] decides whether it may begin, [`artifact`] and [`build`] make
//! objects of its source, [`store`] keeps the inventory in its status, [`finalize`] takes everything back, and
//! [`teardown`] decides when. What objects wait for is in [`late`] and [`providers`], what becomes of those that others
//! change in [`drift`] and [`contest`].

mod artifact;
mod build;
mod changes;
pub(crate) mod contest;
mod decryption;
mod depends;
pub(crate) mod drift;
mod failure;
mod finalize;
mod flux_components;
mod health;
mod late;
pub(crate) mod memory;
mod outcome;
mod pass;
pub(crate) mod providers;
mod settings;
mod store;
mod target;
mod teardown;
mod unserved;
mod words;

pub(crate) use artifact::REASON as ARTIFACT_FAILED;
pub(crate) use depends::{
    REASON as DEPENDENCY_NOT_READY, depends_on, depends_on_objects, has_expression_on,
};
pub(crate) use finalize::ALLOW_LARGE_PRUNE;
pub use flux_components::is_flux_component;
pub(crate) use late::UNKNOWN_KINDS;
pub(crate) use pass::reconcile;
pub use settings::owner;
pub(crate) use settings::takeover;

/// The manager of the fields that are applied: Flux's, so that objects change hands without a write.
pub(crate) const MANAGER: &str = "kustomize-controller";
/// The manager of status and finalizers.
pub(crate) const STATUS_MANAGER: &str = "gotk-kustomize-controller";
/// The prefix of the marks on objects.
pub(crate) const GROUP: &str = "kustomize.toolkit.fluxcd.io";
