//! The keys of a component file, as they are written.
//!
//! One set of types reads TOML and its JSON twin, prints `component show`, and yields the JSON
//! schema that editors use. Nothing here is checked yet; that is the business of `rules`. An empty
//! value counts as an absent one.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

/// The one type of component that there is.
pub(super) const COMPONENT_TYPE: &str = "kubernetes_manifest";

/// A component: where manifests come from and how they are delivered.
///
/// Exactly one of `manifest`, `kustomize` and `oci_artifact` says where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Flumen component", extend(
    "required" = ["name", "type", "namespace"],
    "oneOf" = [
        {"required": ["manifest"]},
        {"required": ["kustomize"]},
        {"required": ["oci_artifact"]},
    ],
))]
pub struct ComponentFile {
    /// Name of the component, unique among all files.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"))]
    pub name: String,

    /// What the component is; always `kubernetes_manifest`.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    #[schemars(extend("enum" = [COMPONENT_TYPE]))]
    pub kind: String,

    /// Name under which templates of other components find this one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub var_name: String,

    /// Components that are deployed before this one; those that templates refer to are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,

    /// Labels of the component itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,

    /// Namespace of namespaced objects that name none; may contain template variables.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(min = 1))]
    pub namespace: String,

    /// YAML or JSON documents, or the path of a file with them, beginning with `./` and relative to
    /// this file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manifest: String,

    /// A kustomization in a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KustomizeTable")]
    pub kustomize: Option<KustomizeTable>,

    /// Repository that needs no credentials; only with `kustomize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RepoTable")]
    pub public_repo: Option<RepoTable>,

    /// Repository that is known by name to whoever runs the build; only with `kustomize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RepoTable")]
    pub connected_repo: Option<RepoTable>,

    /// An artifact that exists already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OciArtifactTable")]
    pub oci_artifact: Option<OciArtifactTable>,

    /// When to look for drift: five cron fields, in UTC. Absent means never.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub drift_schedule: String,

    /// How long a build may take, such as `90s`; 5m if absent, at most 1h.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub build_timeout: String,

    /// How long a deploy may take; 15m if absent, at most 1h.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub deploy_timeout: String,

    /// How often a failed deploy is tried again by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub max_auto_retries: u32,

    /// Skip the apply step when the plan is empty.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_noops: bool,

    /// Approve plans that all policies accept.
    #[serde(skip_serializing_if = "is_default")]
    pub auto_approve_on_policies_passing: bool,

    /// How a deploy treats the health of what it applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HealthTable")]
    pub health: Option<HealthTable>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["path"]))]
pub struct KustomizeTable {
    /// Directory of the kustomization, relative to the source root.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(min = 1))]
    pub path: String,

    /// Patch files that go over the result in this order, relative to the source root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,

    /// Allow Helm charts in kustomizations.
    #[serde(skip_serializing_if = "is_default")]
    pub enable_helm: bool,

    /// Whether kustomizations may read files outside their own directory.
    #[serde(skip_serializing_if = "is_default")]
    pub load_restrictor: LoadRestrictor,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LoadRestrictor {
    #[default]
    RootOnly,
    None,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["repo"]))]
pub struct RepoTable {
    /// An http(s) URL or a path relative to this file; the name of a repository in
    /// `connected_repo`.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(min = 1))]
    pub repo: String,

    /// Directory in the repository that is the source root.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directory: String,

    /// Branch to build from; the default branch if nothing is named.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub branch: String,

    /// Tag to build from, instead of a branch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag: String,

    /// Full name of the commit to build from, instead of a branch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["url"]))]
pub struct OciArtifactTable {
    /// `oci://host/path`, without tag and digest.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"^oci://"))]
    pub url: String,

    /// Tag to take; pinned to a digest when it is built. `latest` if neither tag nor digest is given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag: String,

    /// Digest to take; wins over the tag.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub digest: String,

    /// Name of stored registry credentials.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub credentials_ref: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HealthTable {
    /// How long objects must stay healthy before a deploy counts as done, such as `30s`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stabilization_window: String,

    /// Fail a deploy whose objects do not become healthy.
    #[serde(skip_serializing_if = "is_default")]
    pub block_deploy: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The JSON schema of component files.
pub fn schema() -> Schema {
    schema_of::<ComponentFile>()
}

pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>()
}
