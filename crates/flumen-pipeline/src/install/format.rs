//! The keys of an install file, as they are written. An empty value counts as an absent one.

use std::{collections::BTreeMap, fmt};

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::config::schema_of;

/// An install: a cluster that components are deployed to, and what is particular to it.
///
/// The name of the file without `.toml` is the id of the install.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Flumen install")]
pub struct InstallFile {
    /// Where the cluster is.
    pub cluster: ClusterTable,

    /// Registry of the install. Artifacts are copied to it before they are deployed; absent, they are
    /// taken from the local store.
    #[schemars(with = "RegistryTable")]
    pub registry: Option<RegistryTable>,

    /// Whose signatures artifacts need.
    pub signatures: SignaturesTable,

    /// What happens to plans that change something, unless the command line says otherwise.
    pub approvals: Approvals,

    /// Values for templates, as `{{ .install.inputs.NAME }}`.
    pub inputs: BTreeMap<String, Input>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterTable {
    /// Path of a kubeconfig file, relative to this file; what kubectl would use if absent.
    pub kubeconfig: String,

    /// Context in it; the current one if absent.
    pub context: String,

    /// Namespace that keeps the inventories of the components; `default` if absent.
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["url"]))]
pub struct RegistryTable {
    /// Repository for artifacts, `oci://host/path`, without tag and digest.
    #[schemars(regex(pattern = r"^oci://"))]
    pub url: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignaturesTable {
    /// What becomes of an artifact that nobody who counts has signed.
    pub policy: SignaturePolicy,

    /// Files of public keys that may have signed, relative to this file.
    pub keys: Vec<String>,

    /// File with the authorities and logs of a sigstore deployment, for signatures that are made with
    /// certificates; relative to this file.
    pub trusted_root: String,

    /// Who may have signed with a certificate.
    pub identity: String,

    /// Who vouches for that identity, such as the address of an OIDC issuer.
    pub issuer: String,

    /// Repository that artifacts were signed in, `host/path`, if it is not this one or a mirror with the
    /// same path.
    pub signed_as: String,
}

/// What becomes of an artifact without a signature that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignaturePolicy {
    /// Signatures are not looked at.
    #[default]
    Off,
    /// It is deployed, with a warning.
    Warn,
    /// It is refused before anything is planned.
    Enforce,
}

/// Who decides about a plan that changes something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Approvals {
    /// A person, plan by plan.
    #[default]
    Ask,
    /// Nobody: all plans are carried out.
    ApproveAll,
    /// Nobody: no plan is carried out.
    PlanOnly,
}

/// A value for templates, or a table of them.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an input is a text, a number, true or false, or a table of these")]
pub enum Input {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Table(BTreeMap<String, Self>),
}

/// It may be secret.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => f.debug_set().entries(table.keys()).finish(),
            _ => f.write_str("***"),
        }
    }
}

/// The JSON schema of install files.
pub fn schema() -> Schema {
    schema_of::<InstallFile>()
}
