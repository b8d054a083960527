//! What is asked of the server.

use bytes::Bytes;

use crate::User;

/// One request for a resource, decoded as far as every verb needs it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub user: User,
    pub target: Target,
    pub query: Query,
    /// Whole; names the manager of writes that do not say one.
    pub user_agent: String,
    /// What the body is, if there is one.
    pub media: Option<Media>,
    pub body: Bytes,
    pub representation: Representation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// As rules and discovery name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

/// What a request is about. Empty texts are absent parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub verb: Verb,
    pub group: String,
    pub version: String,
    /// The plural, as in the path.
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
}

/// The parameters of a request, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(pub Vec<(String, String)>);

impl Query {
    /// The first value; the server ignores further ones.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Json,
    Yaml,
    Protobuf,
    JsonPatch,
    MergePatch,
    StrategicMergePatch,
    ApplyJson,
    ApplyYaml,
    ApplyCbor,
}

/// In which shape objects are to be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Representation {
    #[default]
    Object,
    /// `PartialObjectMetadata`.
    Metadata(MetaVersion),
    /// A list of `PartialObjectMetadata`.
    MetadataList(MetaVersion),
    /// For people.
    Table(MetaVersion),
}

/// The version of `meta.k8s.io` that a client asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    #[default]
    V1,
    V1beta1,
}

impl MetaVersion {
    pub(crate) const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}
