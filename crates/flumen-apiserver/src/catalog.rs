//! All resources that are served at one moment.

use std::{collections::BTreeMap, sync::Arc};

use flumen_schema::api::Api as Facts;

use crate::{Behaviour, Resource};

/// A snapshot. When a definition comes or goes there is a new catalog; requests keep the one that
/// they began with.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// In the order of discovery: built-in groups first.
    resources: Vec<Arc<Resource>>,
    by_path: BTreeMap<(String, String, String), usize>,
}

impl Catalog {
    /// The built-in kinds alone.
    pub(crate) fn builtin() -> Self {
        Self::of(
            Facts::get().kinds().iter().map(|kind| Arc::new(Resource::builtin(kind))).collect(),
        )
    }

    /// The built-in kinds of this catalog, with other custom resources.
    pub(crate) fn with_custom(&self, custom: Vec<Arc<Resource>>) -> Self {
        let is_builtin =
            |resource: &&Arc<Resource>| matches!(resource.behaviour, Behaviour::Builtin { .. });
        Self::of(self.resources.iter().filter(is_builtin).cloned().chain(custom).collect())
    }

    fn of(resources: Vec<Arc<Resource>>) -> Self {
        let key = |(place, of): (usize, &Arc<Resource>)| {
            ((of.group.clone(), of.version.clone(), of.plural.clone()), place)
        };
        let by_path = resources.iter().enumerate().map(key).collect();
        Self { resources, by_path }
    }

    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.by_path.get(&key).map(|place| &self.resources[*place])
    }

    /// The resource of a kind, for references that name kinds.
    pub fn find_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.resources.iter().find(|r| r.kind == kind && r.version == version && r.group == group)
    }

    /// The same objects in all versions that are served.
    pub(crate) fn equivalents<'a>(
        &'a self,
        of: &'a Resource,
    ) -> impl Iterator<Item = &'a Arc<Resource>> {
        self.resources.iter().filter(|other| other.location == of.location)
    }
}
