//! Which Kustomizations refer to what, so that nobody has to look through all of them.

use std::collections::{BTreeSet, HashMap};

use flumen_api::{Kustomization, SourceKind};

use crate::{
    Key, Kind,
    cache::reflected::{Change, Name, Read},
    kustomization::depends_on,
};

#[derive(Debug, Default)]
pub(crate) struct Index {
    users: HashMap<Key, BTreeSet<Name>>,
    dependants: HashMap<Name, BTreeSet<Name>>,
}

impl Index {
    /// Follows a change of a Kustomization.
    pub(crate) fn update(&mut self, change: &Change<Kustomization>) {
        if let Some(object) = readable(change.before.as_ref()) {
            remove(&mut self.users, source(object), &change.name);
            for dependency in depends_on(object) {
                remove(&mut self.dependants, Some(dependency), &change.name);
            }
        }
        if let Some(object) = readable(change.after.as_ref()) {
            if let Some(source) = source(object) {
                self.users.entry(source).or_default().insert(change.name.clone());
            }
            for dependency in depends_on(object) {
                self.dependants.entry(dependency).or_default().insert(change.name.clone());
            }
        }
    }

    /// The Kustomizations that build from a source.
    pub(crate) fn users(&self, source: &Key) -> impl Iterator<Item = &Name> {
        self.users.get(source).into_iter().flatten()
    }

    /// The Kustomizations that depend on one.
    pub(crate) fn dependants(&self, name: &Name) -> impl Iterator<Item = &Name> {
        self.dependants.get(name).into_iter().flatten()
    }

    /// All that depend on a Kustomization, also through others.
    pub(crate) fn behind(&self, name: &Name) -> BTreeSet<Name> {
        let mut behind = BTreeSet::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            for dependant in self.dependants(name) {
                if behind.insert(dependant.clone()) {
                    next.push(dependant);
                }
            }
        }
        behind
    }
}

fn readable(read: Option<&Read<Kustomization>>) -> Option<&Kustomization> {
    read?.as_ref().ok().map(AsRef::as_ref)
}

fn remove<K: Eq + std::hash::Hash>(
    map: &mut HashMap<K, BTreeSet<Name>>,
    key: Option<K>,
    name: &Name,
) {
    let Some(key) = key else { return };
    if let Some(names) = map.get_mut(&key) {
        names.remove(name);
        if names.is_empty() {
            map.remove(&key);
        }
    }
}

/// The source of a Kustomization, if it is of a kind that we serve.
fn source(object: &Kustomization) -> Option<Key> {
    let kind = match object.spec.source_ref.kind {
        SourceKind::GitRepository => Kind::GitRepository,
        SourceKind::OciRepository => Kind::OciRepository,
        SourceKind::ExternalArtifact => Kind::ExternalArtifact,
        SourceKind::Bucket => return None,
    };
    Some(Key::new(kind, object.source_namespace(), &object.spec.source_ref.name))
}
