//! A resource that the server serves, in one version.

use std::sync::Arc;

use flumen_crd::{Served, Version};
use flumen_schema::api::{ApiKind, Scope};

use crate::Converter;

/// A built-in kind and a custom one look the same from here on; only `Behaviour` tells them apart.
#[derive(Debug)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub plural: String,
    pub(crate) singular: String,
    pub(crate) scope: Scope,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub verbs: Vec<String>,
    pub(crate) subresources: Vec<Subresource>,
    /// Where objects are kept. Kinds that share a place show the same objects.
    pub location: Location,
    pub(crate) behaviour: Behaviour,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub group: String,
    pub plural: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub name: String,
    pub group: String,
    pub version: String,
    pub kind: String,
    pub verbs: Vec<String>,
}

/// Where the rules of a resource come from.
#[derive(Debug)]
pub(crate) enum Behaviour {
    Builtin {
        kind: &'static ApiKind,
        /// The kind and version that is stored, defaulted and validated.
        hub: &'static ApiKind,
    },
    Custom {
        version: Arc<Version>,
        /// The version that objects are stored in.
        storage: Arc<Version>,
        /// What converts between them, if that is more than another name.
        converter: Option<Converter>,
    },
}

impl Resource {
    pub(crate) fn builtin(kind: &'static ApiKind) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let hub = flumen_kinds::stored_version(kind);
        Self {
            group: kind.group.to_owned(),
            version: kind.version.to_owned(),
            kind: kind.kind.to_owned(),
            list_kind: format!("{}List", kind.kind),
            plural: kind.plural.to_owned(),
            singular: kind.singular.to_owned(),
            scope: kind.scope,
            short_names: owned(&kind.short_names),
            categories: owned(&kind.categories),
            verbs: owned(&kind.verbs),
            subresources: kind
                .subresources
                .iter()
                .map(|sub| Subresource {
                    name: sub.name.to_owned(),
                    group: sub.group.to_owned(),
                    version: sub.version.to_owned(),
                    kind: sub.kind.to_owned(),
                    verbs: owned(&sub.verbs),
                })
                .collect(),
            location: Location { group: hub.group.to_owned(), plural: hub.plural.to_owned() },
            behaviour: Behaviour::Builtin { kind, hub },
        }
    }

    /// A custom resource in one of its versions.
    pub(crate) fn custom(
        served: &Served,
        version: &Arc<Version>,
        storage: &Arc<Version>,
        converter: Option<Converter>,
    ) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let part = |name: &str, group: &str, version: &str, kind: &str| Subresource {
            name: name.to_owned(),
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            verbs: owned(&["get", "patch", "update"]),
        };
        let mut subresources = Vec::new();
        if version.has_status {
            subresources.push(part("status", &served.group, &version.name, &served.kind));
        }
        if version.scale.is_some() {
            subresources.push(part("scale", "autoscaling", "v1", "Scale"));
        }
        Self {
            group: served.group.clone(),
            version: version.name.clone(),
            kind: served.kind.clone(),
            list_kind: served.list_kind.clone(),
            plural: served.plural.clone(),
            singular: served.singular.clone(),
            scope: if served.is_namespaced { Scope::Namespaced } else { Scope::Cluster },
            short_names: served.short_names.clone(),
            categories: served.categories.clone(),
            verbs: owned(&[
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ]),
            subresources,
            location: Location { group: served.group.clone(), plural: served.plural.clone() },
            behaviour: Behaviour::Custom {
                version: Arc::clone(version),
                storage: Arc::clone(storage),
                converter,
            },
        }
    }

    /// `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether objects are stored in this version, so that nothing has to convert them.
    pub fn is_stored_version(&self) -> bool {
        match &self.behaviour {
            Behaviour::Builtin { kind, hub } => std::ptr::eq(*kind, *hub),
            Behaviour::Custom { version, storage, .. } => version.name == storage.name,
        }
    }

    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }
}
