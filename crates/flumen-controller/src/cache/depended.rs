//! Objects of other kinds that Kustomizations depend on, seen through one watch for each kind that somebody names.
//!
//! Of a kind only the objects are kept that are named, without what servers note about managers.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Node;
use tokio::task::{AbortHandle, JoinSet};

use super::{
    follow::{Followed, Observer, Scope, follow},
    reflected::{Name, name},
};

/// What is known of an object.
#[derive(Clone, Debug, Default)]
pub(crate) enum Known {
    /// Nobody has told yet.
    #[default]
    Nothing,
    Missing,
    There(Arc<Node>),
}

pub(crate) struct Depended {
    cluster: Followed,
    kinds: Mutex<HashMap<Gvk, Seen>>,
    changed: Box<dyn Fn(ObjectId) + Send + Sync>,
    watches: Mutex<JoinSet<()>>,
    /// For the watches, which must not keep this alive.
    this: Weak<Self>,
}

/// The objects of one kind that are named.
struct Seen {
    objects: BTreeMap<Name, Known>,
    watch: AbortHandle,
}

impl Depended {
    /// `changed` is called for each change of an object that is named.
    pub(crate) fn new(
        cluster: Followed,
        changed: impl Fn(ObjectId) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            cluster,
            kinds: Mutex::default(),
            changed: Box::new(changed),
            watches: Mutex::default(),
            this: this.clone(),
        })
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<Gvk, Seen>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, id: &ObjectId) -> Known {
        let kinds = self.kinds();
        let known = kinds.get(&id.gvk).and_then(|seen| seen.objects.get(&place(id)));
        known.cloned().unwrap_or_default()
    }

    /// Keeps an object from now on.
    pub(crate) fn keep(&self, id: &ObjectId) {
        let mut kinds = self.kinds();
        let seen = kinds.entry(id.gvk.clone()).or_insert_with(|| {
            let scope = Scope { gvk: id.gvk.clone(), namespace: None, selector: None };
            let observer = OfKind { depended: self.this.clone(), gvk: id.gvk.clone() };
            let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that were ended are forgotten here; there is no other time for it.
            while watches.try_join_next().is_some() {}
            let watch = watches.spawn(follow(self.cluster.clone(), scope, observer));
            Seen { objects: BTreeMap::new(), watch }
        });
        seen.objects.entry(place(id)).or_default();
    }

    /// Forgets an object that nobody names any more; with the last one of a kind the watch ends.
    pub(crate) fn release(&self, id: &ObjectId) {
        let mut kinds = self.kinds();
        let Some(seen) = kinds.get_mut(&id.gvk) else { return };
        seen.objects.remove(&place(id));
        if seen.objects.is_empty() {
            seen.watch.abort();
            kinds.remove(&id.gvk);
        }
    }

    /// Takes note of all objects of a kind by `look`, which is given each that is named.
    fn note(&self, gvk: &Gvk, look: impl Fn(&Name) -> Option<Known>) {
        let mut changed = Vec::new();
        if let Some(seen) = self.kinds().get_mut(gvk) {
            for (place, known) in &mut seen.objects {
                let Some(now) = look(place) else { continue };
                if version(known) != version(&now) {
                    *known = now;
                    changed.push(place.clone());
                }
            }
        }
        for (namespace, name) in changed {
            let id = ObjectId { gvk: gvk.clone(), namespace: namespace.into(), name: name.into() };
            (self.changed)(id);
        }
    }
}

impl fmt::Debug for Depended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Depended").finish_non_exhaustive()
    }
}

fn place(id: &ObjectId) -> Name {
    (id.namespace.to_string(), id.name.to_string())
}

/// What tells one state of an object from another.
fn version(known: &Known) -> Option<&str> {
    match known {
        Known::Nothing => None,
        Known::Missing => Some(""),
        Known::There(node) => node.at(&["metadata", "resourceVersion"]).and_then(Node::as_str),
    }
}

fn there(object: &Node) -> Known {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Node::as_map_mut) {
        metadata.remove("managedFields");
    }
    Known::There(Arc::new(object))
}

/// Whether an object is the one that is named. Who depends on an object of the whole cluster cannot but name a
/// namespace, too: their own.
fn is_named(object: &Name, named: &Name) -> bool {
    object.1 == named.1 && (object.0.is_empty() || object.0 == named.0)
}

/// Tells [`Depended`] of one kind.
struct OfKind {
    depended: Weak<Depended>,
    gvk: Gvk,
}

impl OfKind {
    fn note(&self, look: impl Fn(&Name) -> Option<Known>) {
        if let Some(depended) = self.depended.upgrade() {
            depended.note(&self.gvk, look);
        }
    }
}

impl Observer for OfKind {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let items: HashMap<Name, Node> =
            items.into_iter().map(|item| (name(&item), item)).collect();
        self.note(|named| {
            let everywhere = (String::new(), named.1.clone());
            let found = items.get(named).or_else(|| items.get(&everywhere));
            Some(found.map_or(Known::Missing, there))
        });
    }

    fn applied(&self, object: &Node) {
        let place = name(object);
        self.note(|named| is_named(&place, named).then(|| there(object)));
    }

    fn deleted(&self, object: &Node) {
        let place = name(object);
        self.note(|named| is_named(&place, named).then_some(Known::Missing));
    }

    fn unserved(&self) {
        self.note(|_| Some(Known::Nothing));
    }
}
