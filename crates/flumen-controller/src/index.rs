//! Which Kustomizations refer to what, so that nobody has to look through all of them.

use std::collections::{BTreeSet, HashMap};

use flumen_api::{Kustomization, SourceKind, SubstituteKind};
use flumen_object::ObjectId;

use crate::{
    Key, Kind,
    cache::{
        referenced::Referenced,
        reflected::{Change, Name, Read},
    },
    kustomization::{depends_on, depends_on_objects},
};

#[derive(Debug, Default)]
pub(crate) struct Index {
    users: HashMap<Key, BTreeSet<Name>>,
    dependants: HashMap<Name, BTreeSet<Name>>,
    readers: HashMap<Referenced, BTreeSet<Name>>,
    /// Who depends on objects of other kinds.
    dependants_on_objects: HashMap<ObjectId, BTreeSet<Name>>,
}

impl Index {
    /// Follows a change of a Kustomization.
    pub(crate) fn update(&mut self, change: &Change<Kustomization>) {
        if let Some(object) = readable(change.before.as_ref()) {
            remove(&mut self.users, source(object), &change.name);
            for dependency in depends_on(object) {
                remove(&mut self.dependants, Some(dependency), &change.name);
            }
            for reference in references(object) {
                remove(&mut self.readers, Some(reference), &change.name);
            }
            for id in depends_on_objects(object) {
                remove(&mut self.dependants_on_objects, Some(id), &change.name);
            }
        }
        if let Some(object) = readable(change.after.as_ref()) {
            if let Some(source) = source(object) {
                self.users.entry(source).or_default().insert(change.name.clone());
            }
            for dependency in depends_on(object) {
                self.dependants.entry(dependency).or_default().insert(change.name.clone());
            }
            for reference in references(object) {
                self.readers.entry(reference).or_default().insert(change.name.clone());
            }
            for id in depends_on_objects(object) {
                self.dependants_on_objects.entry(id).or_default().insert(change.name.clone());
            }
        }
    }

    /// The Kustomizations that build from a source.
    pub(crate) fn users(&self, source: &Key) -> impl Iterator<Item = &Name> {
        self.users.get(source).into_iter().flatten()
    }

    /// The Kustomizations that read a `ConfigMap` or `Secret`.
    pub(crate) fn readers(&self, reference: &Referenced) -> impl Iterator<Item = &Name> {
        self.readers.get(reference).into_iter().flatten()
    }

    /// The Kustomizations that depend on one.
    pub(crate) fn dependants(&self, name: &Name) -> impl Iterator<Item = &Name> {
        self.dependants.get(name).into_iter().flatten()
    }

    /// The Kustomizations that depend on an object of another kind.
    pub(crate) fn dependants_on_object(&self, id: &ObjectId) -> impl Iterator<Item = &Name> {
        self.dependants_on_objects.get(id).into_iter().flatten()
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

/// What a Kustomization reads beside its source.
fn references(object: &Kustomization) -> Vec<Referenced> {
    let spec = &object.spec;
    let variables = spec.post_build.iter().flat_map(|post_build| &post_build.substitute_from);
    let variables = variables.map(|one| match one.kind {
        SubstituteKind::ConfigMap => ("ConfigMap", &one.name),
        SubstituteKind::Secret => ("Secret", &one.name),
    });
    let cluster = spec.kube_config.as_ref().and_then(|config| config.secret_ref.as_ref());
    let keys = spec.decryption.as_ref().and_then(|decryption| decryption.secret_ref.as_ref());
    let secrets = cluster.map(|one| &one.name).into_iter().chain(keys.map(|one| &one.name));
    let secrets = secrets.map(|name| ("Secret", name));
    let namespace = &object.metadata.namespace;
    variables
        .chain(secrets)
        .map(|(kind, name)| Referenced { kind, name: (namespace.clone(), name.clone()) })
        .collect()
}

/// The source of a Kustomization, if it is of a kind that we serve.
pub(crate) fn source(object: &Kustomization) -> Option<Key> {
    let kind = match object.spec.source_ref.kind {
        SourceKind::GitRepository => Kind::GitRepository,
        SourceKind::OciRepository => Kind::OciRepository,
        SourceKind::ExternalArtifact => Kind::ExternalArtifact,
        SourceKind::Bucket => return None,
    };
    Some(Key::new(kind, object.source_namespace(), &object.spec.source_ref.name))
}
