//! What is known of the server: the objects that controllers look at, as the changes tell them.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    kind::{Id, Kind},
    object,
};

/// Trees that are kept for the next who looks at the same.
const MANY: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct World {
    objects: BTreeMap<Id, Known>,
    /// Objects that have been read since the last [`Self::rest`].
    read: RefCell<Vec<Id>>,
    /// By the identity of the controller.
    controlled: BTreeMap<String, BTreeSet<Id>>,
    /// Objects that nobody controls.
    free: BTreeSet<Id>,
    /// Identities of objects whose deletion was asked for, which changes have not told yet.
    ending: BTreeSet<String>,
    /// When pods came to their node, by identity. Their status has whole seconds only.
    placed: BTreeMap<String, Timestamp>,
    /// Why the last attempt to make a pod for an object failed.
    failures: BTreeMap<Id, String>,
    /// How many objects there are, by place and namespace, for quotas.
    counts: BTreeMap<(String, String), usize>,
}

/// An object. It is kept as text, because a tree takes ten times the memory, and read when someone looks at it.
#[derive(Debug)]
struct Known {
    text: Box<[u8]>,
    version: u64,
    uid: String,
    /// The identity of its controller.
    controller: Option<String>,
    tree: OnceCell<Value>,
}

impl Known {
    fn new(object: Value) -> Self {
        let controller = object::controller(&object).map(|owner| object::text(owner, "/uid"));
        Self {
            // A tree of JSON has no way to fail.
            text: serde_json::to_vec(&object).unwrap_or_default().into(),
            version: object::version(&object),
            uid: object::uid(&object).to_owned(),
            controller: controller.map(str::to_owned),
            tree: object.into(),
        }
    }

    fn read(&self) -> Value {
        serde_json::from_slice(&self.text).unwrap_or_default()
    }
}

impl World {
    pub(crate) fn get(&self, id: &Id) -> Option<&Value> {
        self.objects.get_key_value(id).map(|(id, known)| self.tree(id, known))
    }

    fn tree<'a>(&'a self, id: &Id, known: &'a Known) -> &'a Value {
        known.tree.get_or_init(|| {
            self.read.borrow_mut().push(id.clone());
            known.read()
        })
    }

    /// Lets go of what was read, when there is much of it. To be called in between all work.
    pub(crate) fn rest(&mut self) {
        if self.read.get_mut().len() < MANY {
            return;
        }
        for id in self.read.take() {
            if let Some(known) = self.objects.get_mut(&id) {
                known.tree.take();
            }
        }
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
            .map(|(id, known)| self.tree(id, known))
    }

    /// Which objects of a kind there are in a namespace.
    pub(crate) fn ids<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Id> {
        self.objects
            .range(Id::new(kind, namespace, "")..)
            .map(|(id, _)| id)
            .take_while(move |id| id.kind == kind && id.namespace == namespace)
    }

    /// The objects of a kind in a namespace that have no controller.
    pub(crate) fn free<'a>(
        &'a self,
        kind: Kind,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        self.free
            .range(Id::new(kind, namespace, "")..)
            .take_while(move |id| id.kind == kind && id.namespace == namespace)
            .filter_map(|id| self.get(id))
    }

    /// The objects of a kind in all namespaces.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        let objects = self.objects.range(Id::new(kind, "", "")..);
        objects.take_while(move |(id, _)| id.kind == kind).map(|(id, known)| self.tree(id, known))
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
        if known.is_some_and(|known| known.version >= object::version(&object)) {
            return false;
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        if self.ending.contains(object::uid(&object)) {
            mark_ending(&mut object);
        }
        self.unlink(&id);
        let known = Known::new(object);
        match &known.controller {
            Some(owner) => self.controlled.entry(owner.clone()).or_default().insert(id.clone()),
            None => self.free.insert(id.clone()),
        };
        self.read.get_mut().push(id.clone());
        self.objects.insert(id, known);
        true
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<Value> {
        self.unlink(id);
        self.failures.remove(id);
        let known = self.objects.remove(id)?;
        self.ending.remove(&known.uid);
        self.placed.remove(&known.uid);
        Some(known.read())
    }

    /// Remembers that a deletion was asked for.
    pub(crate) fn end(&mut self, id: &Id) {
        if let Some(known) = self.objects.get_mut(id) {
            self.ending.insert(known.uid.clone());
            let mut object = known.read();
            mark_ending(&mut object);
            *known = Known::new(object);
            self.read.get_mut().push(id.clone());
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
        self.free.remove(id);
        let Some(owner) = self.objects.get(id).and_then(|known| known.controller.as_ref()) else {
            return;
        };
        if let Some(ids) = self.controlled.get_mut(owner) {
            ids.remove(id);
            if ids.is_empty() {
                self.controlled.remove(owner);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, version: u64, controller: Option<&str>) -> Value {
        let owners = controller.map(|uid| json!({ "uid": uid, "controller": true }));
        json!({ "metadata": {
            "namespace": "n",
            "name": name,
            "uid": format!("uid of {name}"),
            "resourceVersion": version.to_string(),
            "ownerReferences": owners.into_iter().collect::<Vec<_>>(),
        }})
    }

    fn names<'a>(objects: impl Iterator<Item = &'a Value>) -> Vec<&'a str> {
        objects.map(object::name).collect()
    }

    #[test]
    fn objects_are_read_again_after_they_were_let_go() {
        let mut world = World::default();
        for number in 0..2 * MANY {
            world.put(Kind::Pod, pod(&format!("pod-{number:03}"), 1, None));
            world.rest();
        }
        assert!(world.read.borrow().len() < MANY);
        let all: Vec<&Value> = world.list(Kind::Pod, "n").collect();
        assert_eq!(all.len(), 2 * MANY);
        assert_eq!(*all[7], pod("pod-007", 1, None));
    }

    #[test]
    fn who_controls_what_follows_the_changes() {
        let mut world = World::default();
        world.put(Kind::Pod, pod("a", 1, None));
        world.put(Kind::Pod, pod("b", 1, Some("owner")));
        assert_eq!(names(world.free(Kind::Pod, "n")), ["a"]);
        assert_eq!(names(world.controlled("owner", Kind::Pod)), ["b"]);
        world.put(Kind::Pod, pod("a", 2, Some("owner")));
        assert!(!world.put(Kind::Pod, pod("a", 1, None)), "older than what is known");
        assert_eq!(names(world.free(Kind::Pod, "n")), [""; 0]);
        assert_eq!(names(world.controlled("owner", Kind::Pod)), ["a", "b"]);
        let id = Id::new(Kind::Pod, "n", "b");
        world.end(&id);
        assert!(world.get(&id).is_some_and(object::is_ending));
        assert!(world.remove(&id).as_ref().is_some_and(object::is_ending));
        assert_eq!(names(world.controlled("owner", Kind::Pod)), ["a"]);
    }
}
