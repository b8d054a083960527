//! `Kustomization`: what is built from a source and applied.

mod build;
mod status;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    GoDuration, KeyReference, LocalReference, Metadata, ObjectReference,
    kind::kind,
    omitempty::{self, is_default},
    reconciled::reconciled,
};

pub use build::{
    BuildMetadata, CommonMetadata, Decryption, DecryptionProvider, IgnoreRule, Image, Patch,
    PostBuild, SubstituteKind, SubstituteReference, SubstituteStrategy, Target,
};
pub use status::{Inventory, InventoryEntry, KustomizationStatus};

/// No limit of health checks is shorter.
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Manifests of a source, built and kept applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kustomization {
    pub metadata: Metadata,
    pub spec: KustomizationSpec,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: KustomizationStatus,
}

kind!(Kustomization: "kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations");
reconciled!(Kustomization);

impl Kustomization {
    /// The namespace of the source.
    pub fn source_namespace(&self) -> &str {
        self.spec.source_ref.namespace.as_deref().unwrap_or(&self.metadata.namespace)
    }

    /// The namespace of a dependency.
    pub fn namespace_of<'a>(&'a self, dependency: &'a Dependency) -> &'a str {
        dependency.namespace.as_deref().unwrap_or(&self.metadata.namespace)
    }

    /// Whether its objects are deleted with it.
    pub fn deletes_objects(&self) -> bool {
        match self.spec.deletion_policy {
            DeletionPolicy::MirrorPrune => self.spec.prune,
            DeletionPolicy::Delete | DeletionPolicy::WaitForTermination => true,
            DeletionPolicy::Orphan => false,
        }
    }
}

/// What to build, how, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are the fields of the API")]
pub struct KustomizationSpec {
    /// Time between two reconciliations that succeed.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Hours"))]
    pub interval: GoDuration,
    /// Time until the next try after a failure; the interval if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Hours"))]
    pub retry_interval: Option<GoDuration>,
    /// Limit of health checks and of waiting for termination; 30 seconds less than the interval if not given, and
    /// never less than 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Hours"))]
    pub timeout: Option<GoDuration>,
    /// Stop reconciling, and leave the objects when this one is deleted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub suspend: bool,
    /// Where the manifests come from.
    pub source_ref: SourceReference,
    /// Directory to build, from the root of the artifact; the root if not given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Delete objects that are no longer built.
    pub prune: bool,
    /// What happens to the objects when this one is deleted: as `prune` says, delete, delete and wait, or nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deletion_policy: DeletionPolicy,
    /// Delete and create objects anew whose immutable fields change.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub force: bool,
    /// Wait for the health of every applied object; `healthChecks` is then not looked at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wait: bool,
    /// Objects to wait for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health_checks: Vec<ObjectReference>,
    /// Rules of health in CEL, for kinds that need their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health_check_exprs: Vec<HealthCheckExpr>,
    /// Objects that must be ready first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Dependency>,
    /// Service account of this namespace that is impersonated.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub service_account_name: Option<String>,
    /// Another cluster to apply to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,
    /// Namespace of all objects that have one; replaces `namespace` of the kustomization file.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 63)))]
    pub target_namespace: Option<String>,
    /// Replaces `namePrefix` of the kustomization file.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub name_prefix: Option<String>,
    /// Replaces `nameSuffix` of the kustomization file.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub name_suffix: Option<String>,
    /// Labels and annotations that every object gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_metadata: Option<CommonMetadata>,
    /// Patches behind those of the kustomization file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
    /// Images to replace, merged with those of the kustomization file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Components behind those of the kustomization file; relative paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Leave out components whose directory does not exist.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignore_missing_components: bool,
    /// Annotations that tell where objects come from; replaces `buildMetadata` of the kustomization file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_metadata: Vec<BuildMetadata>,
    /// Substitution of variables in what was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_build: Option<PostBuild>,
    /// How encrypted manifests are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,
    /// Fields that others may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreRule>,
}

impl KustomizationSpec {
    /// The limit of health checks and of waiting for termination.
    pub fn timeout(&self) -> Duration {
        let given = self.timeout.map(Duration::from);
        given.unwrap_or(self.interval.0.saturating_sub(SHORTEST_TIMEOUT)).max(SHORTEST_TIMEOUT)
    }

    /// The time until the next try after a failure.
    pub fn retry_interval(&self) -> Duration {
        self.retry_interval.unwrap_or(self.interval).0
    }
}

/// The kinds that manifests may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SourceKind {
    #[serde(rename = "OCIRepository")]
    OciRepository,
    GitRepository,
    Bucket,
    ExternalArtifact,
}

impl SourceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::OciRepository => "OCIRepository",
            Self::GitRepository => "GitRepository",
            Self::Bucket => "Bucket",
            Self::ExternalArtifact => "ExternalArtifact",
        }
    }
}

/// The source of a Kustomization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceReference {
    /// Accepted, and of no effect.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub api_version: Option<String>,
    /// Kind of the source.
    pub kind: SourceKind,
    /// Name of the source.
    pub name: String,
    /// Namespace of the source; that of the Kustomization if not given.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub namespace: Option<String>,
}

/// What happens to the objects of a Kustomization that is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DeletionPolicy {
    #[default]
    MirrorPrune,
    Delete,
    WaitForTermination,
    Orphan,
}

/// How the health of a kind is told, in CEL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckExpr {
    /// API version of the kind; its version does not count.
    pub api_version: String,
    /// The kind; all kinds of the group if not given.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub kind: Option<String>,
    /// True when the object is as it should be.
    pub current: String,
    /// True when the object is on its way.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub in_progress: Option<String>,
    /// True when the object has failed.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub failed: Option<String>,
}

/// Something that must be ready before a Kustomization is reconciled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// API version of the object; together with `kind`. Flumen only.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub api_version: Option<String>,
    /// Kind of the object; a Kustomization if not given. Flumen only.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub kind: Option<String>,
    /// Name of the object.
    pub name: String,
    /// Namespace of the object; that of the Kustomization if not given.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub namespace: Option<String>,
    /// Whether the object must be healthy, or only be there; it must be healthy if not given. Flumen only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// When the object is ready, in CEL over `self` and `dep`.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub ready_expr: Option<String>,
}

/// Another cluster: one of the two is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = crate::schema::one_cluster()))
)]
#[serde(rename_all = "camelCase")]
pub struct KubeConfig {
    /// A `ConfigMap` that says how to reach the cluster with an identity of its provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_ref: Option<LocalReference>,
    /// A Secret with a kubeconfig; its key is `value` or `value.yaml` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KeyReference>,
}
