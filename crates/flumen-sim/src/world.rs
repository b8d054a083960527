//! What is known of the server: the objects that controllers look at, as the changes tell them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    kind::{Id, Kind},
    object,
};

#[derive(Debug, Default)]
pub(crate) struct World {
    objects: BTreeMap<Id, Arc<Value>>,
    /// By the identity of the controller.
    controlled: BTreeMap<String, BTreeSet<Id>>,
    /// Identities of objects whose deletion was asked for, which changes have not told yet.
    ending: BTreeSet<String>,
    /// When pods came to their node, by identity. Their status has whole seconds only.
    placed: BTreeMap<String, Timestamp>,
    /// Why the last attempt to make a pod for an object failed.
    failures: BTreeMap<Id, String>,
    /// How many objects there are, by place and namespace, for quotas.
    counts: BTreeMap<(String, String), usize>,
}

impl World {
    pub(crate) fn get(&self, id: &Id) -> Option<&Value> {
        self.objects.get(id).map(|object| &**object)
    }

    pub(crate) fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.get(&Id::new(kind, namespace, name))
    }

    /// The objects of a kind in a namespace.
    pub(crate) fn list<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        self.objects
            .range(Id::new(kind, namespace, "")..)
            .take_while(move |(id, _)| id.kind == kind && id.namespace == namespace)
            .map(|(_, object)| &**object)
    }

    /// The objects of a kind in all namespaces.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        let objects = self.objects.range(Id::new(kind, "", "")..);
        objects.take_while(move |(id, _)| id.kind == kind).map(|(_, object)| &**object)
    }

    /// The objects of a kind that have this controller.
    pub(crate) fn controlled<'a>(
        &'a self,
        controller: &str,
        kind: Kind,
    ) -> impl Iterator<Item = &'a Value> + use<'a> {
        let ids = self.controlled.get(controller).into_iter().flatten();
        ids.filter(move |id| id.kind == kind).filter_map(|id| self.get(id))
    }

    /// Takes in an object, unless it is older than what is known. Answers of the server come before
    /// the changes that they made, so that no decision is taken twice.
    pub(crate) fn put(&mut self, kind: Kind, mut object: Value) -> bool {
        let id = Id::of(kind, &object);
        let known = self.objects.get(&id);
        if known.is_some_and(|known| object::version(known) >= object::version(&object)) {
            return false;
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        if self.ending.contains(object::uid(&object)) {
            mark_ending(&mut object);
        }
        self.unlink(&id);
        if let Some(owner) = object::controller(&object) {
            let owner = object::text(owner, "/uid").to_owned();
            self.controlled.entry(owner).or_default().insert(id.clone());
        }
        self.objects.insert(id, Arc::new(object));
        true
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<Arc<Value>> {
        self.unlink(id);
        self.failures.remove(id);
        let object = self.objects.remove(id)?;
        let uid = object::uid(&object);
        self.ending.remove(uid);
        self.placed.remove(uid);
        Some(object)
    }

    /// Remembers that a deletion was asked for.
    pub(crate) fn end(&mut self, id: &Id) {
        if let Some(object) = self.objects.get_mut(id) {
            self.ending.insert(object::uid(object).to_owned());
            mark_ending(Arc::make_mut(object));
        }
    }

    /// When a pod came to its node; now, if it is new.
    pub(crate) fn placed_at(&self, pod: &Value, now: Timestamp) -> Timestamp {
        self.placed.get(object::uid(pod)).copied().unwrap_or(now)
    }

    pub(crate) fn place(&mut self, uid: &str, now: Timestamp) {
        self.placed.entry(uid.to_owned()).or_insert(now);
    }

    pub(crate) fn failure(&self, kind: Kind, object: &Value) -> Option<&str> {
        self.failures.get(&Id::of(kind, object)).map(String::as_str)
    }

    pub(crate) fn fail(&mut self, id: &Id, why: Option<String>) {
        match why {
            Some(why) => self.failures.insert(id.clone(), why),
            None => self.failures.remove(id),
        };
    }

    /// How many objects are stored in a place, as `pods` or `deployments.apps`, in a namespace.
    pub(crate) fn count(&self, place: &str, namespace: &str) -> usize {
        let key = (place.to_owned(), namespace.to_owned());
        self.counts.get(&key).copied().unwrap_or_default()
    }

    pub(crate) fn count_in(&mut self, place: String, namespace: String) {
        *self.counts.entry((place, namespace)).or_default() += 1;
    }

    pub(crate) fn count_out(&mut self, place: String, namespace: String) {
        if let Some(count) = self.counts.get_mut(&(place, namespace)) {
            *count = count.saturating_sub(1);
        }
    }

    fn unlink(&mut self, id: &Id) {
        let Some(owner) = self.objects.get(id).and_then(|object| object::controller(object)) else {
            return;
        };
        let owner = object::text(owner, "/uid").to_owned();
        if let Some(ids) = self.controlled.get_mut(&owner) {
            ids.remove(id);
            if ids.is_empty() {
                self.controlled.remove(&owner);
            }
        }
    }
}

fn mark_ending(object: &mut Value) {
    if !object::is_ending(object) {
        // The time does not matter: the server's own comes with the next change.
        object::set(object, "/metadata/deletionTimestamp", "1970-01-01T00:00:00Z");
    }
}
