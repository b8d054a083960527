//! The custom resources that Flumen serves: Flux's own, as types.
//!
//! Data only: a kind is what its objects say, and the rules that can be told from one object alone. Objects are read
//! one by one with [`read`], so that one that is malformed is its own failure and not that of its kind.

mod artifact;
mod conditions;
#[cfg(feature = "schema")]
mod definition;
mod definitions;
mod external_artifact;
mod git_repository;
mod history;
mod kind;
mod kustomization;
mod metadata;
mod oci_repository;
mod omitempty;
mod reconciled;
mod reference;
mod revision;
#[cfg(feature = "schema")]
mod schema;

pub use artifact::Artifact;
pub use conditions::{
    Condition, ConditionStatus, Conditions, READY, RECONCILING, STALLED, condition,
    delete_condition, is_ready, is_reconciling, is_stalled, mark_reconciling, mark_stalled,
    set_condition,
};
#[cfg(feature = "schema")]
pub use definition::generate_definitions;
pub use definitions::definitions;
pub use external_artifact::{ExternalArtifact, ExternalArtifactSpec, ExternalArtifactStatus};
/// The type of intervals and timeouts in these objects.
pub use flumen_expr::GoDuration;
pub use git_repository::{
    GitInclude, GitProvider, GitReference, GitRepository, GitRepositorySpec, GitRepositoryStatus,
    GitVerification, GitVerificationMode,
};
pub use history::{History, Pass, Snapshot};
pub use kind::{Kind, Malformed, read, write};
pub use kustomization::{
    BuildMetadata, CommonMetadata, Decryption, DecryptionProvider, DeletionPolicy, Dependency,
    HealthCheckExpr, IgnoreRule, Image, Inventory, InventoryEntry, KubeConfig, Kustomization,
    KustomizationSpec, KustomizationStatus, Patch, PostBuild, SourceKind, SourceReference,
    SubstituteKind, SubstituteReference, SubstituteStrategy, Target,
};
pub use metadata::Metadata;
pub use oci_repository::{
    LayerOperation, LayerSelector, OciProvider, OciReference, OciRepository, OciRepositorySpec,
    OciRepositoryStatus, OciVerification, OciVerificationProvider, OidcIdentity,
};
pub use reconciled::Reconciled;
pub use reference::{KeyReference, LocalReference, ObjectReference};
pub use revision::{Revision, modern_revision};
