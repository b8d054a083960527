//! A resource that the server serves, in one version.

use flumen_schema::api::{ApiKind, Scope};

/// A built-in kind and a custom one look the same from here on; only [`Behaviour`] tells them apart.
#[derive(Debug)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub list_kind: String,
    pub plural: String,
    pub singular: String,
    pub scope: Scope,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub verbs: Vec<String>,
    pub subresources: Vec<Subresource>,
    pub behaviour: Behaviour,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    pub name: String,
    pub group: String,
    pub version: String,
    pub kind: String,
    pub verbs: Vec<String>,
}

/// Where the rules of a resource come from.
#[derive(Debug)]
pub enum Behaviour {
    Builtin(&'static ApiKind),
}

impl Resource {
    pub fn builtin(kind: &'static ApiKind) -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
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
            behaviour: Behaviour::Builtin(kind),
        }
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }
}
