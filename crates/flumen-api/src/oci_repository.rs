//! `OCIRepository`: an artifact of a registry as a source.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Artifact, Condition, GoDuration, LocalReference, Metadata,
    kind::kind,
    omitempty::{self, is_default},
    reconciled::reconciled,
};

/// The limit of a source that gives none.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// A repository of a registry that is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OciRepository {
    pub metadata: Metadata,
    pub spec: OciRepositorySpec,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: OciRepositoryStatus,
}

kind!(OciRepository: "source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories");
reconciled!(OciRepository);

/// Which artifact to pull, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OciRepositorySpec {
    /// Address of the repository, as `oci://<host>/<repository>`, without a tag.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^oci://.*$")))]
    pub url: String,
    /// What is pulled; the tag `latest` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<OciReference>,
    /// Which layer is taken, and how; the first one, unpacked, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer_selector: Option<LayerSelector>,
    /// Who authenticates us, if there is no Secret.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "generic")))]
    pub provider: OciProvider,
    /// Secret with the credentials, of type `kubernetes.io/dockerconfigjson`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Service account whose pull secrets are used, or whose identity reaches the provider.
    #[serde(
        default,
        deserialize_with = "omitempty::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub service_account_name: Option<String>,
    /// Secret with certificates of client and authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_secret_ref: Option<LocalReference>,
    /// Secret with the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_secret_ref: Option<LocalReference>,
    /// Signatures that are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<OciVerification>,
    /// Time between two looks at the registry.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Hours"))]
    pub interval: GoDuration,
    /// Limit of what is done over the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Minutes", extend("default" = "60s")))]
    pub timeout: Option<GoDuration>,
    /// What is left out, in the notation of `.gitignore`; replaces the rules that hold otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// Allow a registry without TLS, or with a certificate that cannot be verified.
    #[serde(default, skip_serializing_if = "is_default")]
    pub insecure: bool,
    /// Stop looking at the registry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub suspend: bool,
}

impl OciRepositorySpec {
    /// The limit of what is done over the network.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, Into::into)
    }
}

/// What is pulled: the digest, else the range, else the tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OciReference {
    /// Digest of the manifest.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Highest tag within this range of versions.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub semver: Option<String>,
    /// Pattern of tags that count for the range.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub semver_filter: Option<String>,
    /// Tag.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Which layer is taken, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LayerSelector {
    /// Media type of the layer; the first one that has it is taken.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Unpack the layer, or keep it as it is; unpack if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<LayerOperation>,
}

/// What is done with a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LayerOperation {
    #[default]
    Extract,
    Copy,
}

/// Who authenticates us to a registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OciProvider {
    #[default]
    Generic,
    Aws,
    Azure,
    Gcp,
}

/// Signatures that are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["provider"])))]
#[serde(rename_all = "camelCase")]
pub struct OciVerification {
    /// Format of the signatures.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "cosign")))]
    pub provider: OciVerificationProvider,
    /// Secret with the public keys; without one, cosign's signatures are verified by identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalReference>,
    /// Identities that may sign; one of them suffices.
    #[serde(rename = "matchOIDCIdentity", default, skip_serializing_if = "Vec::is_empty")]
    pub match_oidc_identity: Vec<OidcIdentity>,
    /// Secret with a trusted root of one's own, under the key `trusted_root.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_root_secret_ref: Option<LocalReference>,
}

/// Formats of signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OciVerificationProvider {
    #[default]
    Cosign,
    Notation,
}

/// An identity that may sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OidcIdentity {
    /// Pattern of the issuer.
    pub issuer: String,
    /// Pattern of the subject.
    pub subject: String,
}

/// What was pulled last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OciRepositoryStatus {
    /// The generation that was looked at last.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// The last request to reconcile that was answered.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// What is stored now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// Address at which whatever is the latest is served.
    #[serde(deserialize_with = "omitempty::text", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `ignore` of what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_ignore: Option<String>,
    /// `layerSelector` of what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_layer_selector: Option<LayerSelector>,
    /// State of the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
