//! The documents of discovery, in both forms. Only the fields that are used.

use std::sync::Arc;

use flumen_object::Gvk;
use flumen_yaml::Text;
use serde::Deserialize;

use super::Kinds;
use crate::Resource;

/// What `/api` and `/apis` answer.
#[derive(Debug)]
pub(super) enum Document {
    Aggregated(Vec<AggregatedGroup>),
    Groups(Vec<Group>),
}

pub(super) fn read(text: &str) -> Result<Document, serde_json::Error> {
    let answer: Answer = serde_json::from_str(text)?;
    Ok(match answer.kind.as_str() {
        "APIVersions" => {
            let core = Group {
                name: String::new(),
                versions: answer.versions.into_iter().map(GroupVersion::core).collect(),
                preferred_version: None,
            };
            Document::Groups(vec![core])
        }
        "APIGroupList" => Document::Groups(answer.groups),
        _ => Document::Aggregated(answer.items),
    })
}

/// One shape for all answers: `kind` says which of the lists counts.
#[derive(Debug, Deserialize)]
struct Answer {
    kind: String,
    #[serde(default)]
    items: Vec<AggregatedGroup>,
    #[serde(default)]
    groups: Vec<Group>,
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AggregatedGroup {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<AggregatedVersion>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

/// A version whose server is down is `Stale`: it lists what it had, or nothing.
#[derive(Debug, Deserialize)]
struct AggregatedVersion {
    version: String,
    #[serde(default)]
    freshness: String,
    #[serde(default)]
    resources: Vec<AggregatedResource>,
}

#[derive(Debug, Deserialize)]
struct AggregatedResource {
    resource: String,
    #[serde(rename = "responseKind")]
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

/// Group and version are empty where they are those of the list.
#[derive(Debug, Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

impl AggregatedGroup {
    pub(super) fn add_to(self, kinds: &mut Kinds) {
        let group = Text::from(self.metadata.name);
        for version in self.versions {
            if version.freshness == "Stale" {
                kinds.add_down(group.clone());
            }
            let name = Text::from(version.version);
            for resource in version.resources {
                let Some(kind) = resource.response_kind.filter(|kind| !kind.kind.is_empty()) else {
                    continue;
                };
                kinds.add(Resource {
                    gvk: Gvk {
                        group: group.clone(),
                        version: name.clone(),
                        kind: kind.kind.into(),
                    },
                    plural: resource.resource.into(),
                    namespaced: resource.scope == "Namespaced",
                    verbs: resource.verbs.into_iter().map(Arc::from).collect(),
                });
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Group {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    versions: Vec<GroupVersion>,
    #[serde(rename = "preferredVersion")]
    preferred_version: Option<GroupVersion>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
struct GroupVersion {
    #[serde(rename = "groupVersion")]
    group_version: String,
}

impl GroupVersion {
    const fn core(version: String) -> Self {
        Self { group_version: version }
    }
}

impl Group {
    /// Where the versions of this group are described, the preferred one first.
    pub(super) fn paths(&self, root: &str) -> impl Iterator<Item = String> {
        let preferred = self.preferred_version.as_ref();
        let others = self.versions.iter().filter(move |version| Some(*version) != preferred);
        preferred
            .into_iter()
            .chain(others)
            .map(move |version| format!("{root}/{}", version.group_version))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceList {
    group_version: String,
    #[serde(default)]
    resources: Vec<LegacyResource>,
}

#[derive(Debug, Deserialize)]
struct LegacyResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

impl ResourceList {
    pub(super) fn add_to(self, kinds: &mut Kinds) {
        let api_version = Text::from(self.group_version);
        // A slash separates a subresource from the resource that it belongs to.
        for resource in self.resources.into_iter().filter(|resource| !resource.name.contains('/')) {
            kinds.add(Resource {
                gvk: Gvk::new(&api_version, resource.kind.into()),
                plural: resource.name.into(),
                namespaced: resource.namespaced,
                verbs: resource.verbs.into_iter().map(Arc::from).collect(),
            });
        }
    }
}
