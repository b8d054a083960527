//! `GitRepository`: a commit of a Git repository as a source.

use serde::{Deserialize, Serialize};

use crate::{
    Artifact, Condition, GoDuration, LocalReference, Metadata,
    kind::kind,
    oci_repository::DEFAULT_TIMEOUT,
    omitempty::{self, is_default},
    reconciled::reconciled,
};

/// A Git repository that is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitRepository {
    pub metadata: Metadata,
    pub spec: GitRepositorySpec,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: GitRepositoryStatus,
}

kind!(GitRepository: "source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories");
reconciled!(GitRepository);

/// Which commit to fetch, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = crate::schema::account_of_a_cloud()))
)]
#[serde(rename_all = "camelCase")]
pub struct GitRepositorySpec {
    /// Address of the repository, over HTTP or SSH.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^(http|https|ssh)://.*$")))]
    pub url: String,
    /// Time between two looks at the repository.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Hours"))]
    pub interval: GoDuration,
    /// Limit of what Git does over the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Minutes", extend("default" = "60s")))]
    pub timeout: Option<GoDuration>,
    /// What is fetched; the branch `master` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<GitReference>,
    /// Secret with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Who authenticates us, if not the Secret alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitProvider>,
    /// Service account whose identity reaches the provider.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub service_account_name: Option<String>,
    /// Secret with the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_secret_ref: Option<LocalReference>,
    /// Signatures that are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<GitVerification>,
    /// What is left out, in the notation of `.gitignore`; replaces the rules that hold otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// Stop looking at the repository.
    #[serde(default, skip_serializing_if = "is_default")]
    pub suspend: bool,
    /// Fetch submodules too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recurse_submodules: bool,
    /// Other repositories whose content is copied into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<GitInclude>,
    /// Directories that are fetched; all if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sparse_checkout: Vec<String>,
}

impl GitRepositorySpec {
    /// The limit of what Git does over the network.
    pub fn timeout(&self) -> std::time::Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, Into::into)
    }
}

/// What is fetched; of several the last in this list counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GitReference {
    /// Branch; with a commit, the branch that has it.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Tag.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Highest tag within this range of versions.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,
    /// Full name of any reference, such as `refs/pull/1/head`.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Commit, by its whole hash.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Who authenticates us to a Git server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GitProvider {
    #[default]
    Generic,
    Aws,
    Azure,
    Github,
}

/// Signatures that are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitVerification {
    /// What must be signed: the commit, the tag, or both.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "HEAD")))]
    pub mode: GitVerificationMode,
    /// Secret with the public keys.
    pub secret_ref: LocalReference,
}

/// What must be signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("enum" = ["head", "HEAD", "Tag", "TagAndHEAD"]))
)]
pub enum GitVerificationMode {
    #[default]
    #[serde(rename = "HEAD", alias = "head")]
    Head,
    Tag,
    #[serde(rename = "TagAndHEAD")]
    TagAndHead,
}

/// Content of another repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitInclude {
    /// Repository of this namespace, by the name of its `GitRepository`.
    pub repository: LocalReference,
    /// What is copied; all of it if not given.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub from_path: Option<String>,
    /// Where it is copied to; the name of the repository if not given.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub to_path: Option<String>,
}

impl GitInclude {
    /// Where the content is copied to.
    pub fn to_path(&self) -> &str {
        self.to_path.as_deref().unwrap_or(&self.repository.name)
    }
}

/// What was fetched last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GitRepositoryStatus {
    /// The generation that was looked at last.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// The last request to reconcile that was answered.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// What is stored now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// What was included in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub included_artifacts: Vec<Artifact>,
    /// `ignore` of what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ignore: Option<String>,
    /// `include` of what is stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed_include: Vec<GitInclude>,
    /// `recurseSubmodules` of what is stored.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_recurse_submodules: bool,
    /// `sparseCheckout` of what is stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed_sparse_checkout: Vec<String>,
    /// What was signed in what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub source_verification_mode: Option<GitVerificationMode>,
    /// State of the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
