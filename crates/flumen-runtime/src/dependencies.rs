//! Objects of any kind that others depend on, kept by one watch for each kind.
//!
//! Only the objects that are referred to are kept, without their managed fields.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Weak},
};

use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Node;
use parking_lot::{Mutex, MutexGuard};
use tokio::task::{AbortHandle, JoinSet};

use crate::{
    Name,
    follow::{Observer, Scope, Watcher, follow, name},
};

/// State of an object that others depend on.
#[derive(Clone, Debug, Default)]
pub enum DependencyState {
    /// It is not watched, or not yet.
    #[default]
    Unknown,
    Missing,
    Present(Arc<Node>),
}

/// The objects that others depend on.
pub struct Dependencies {
    cluster: Watcher,
    kinds: Mutex<HashMap<Gvk, WatchedKind>>,
    changed: Box<dyn Fn(ObjectId) + Send + Sync>,
    watches: Mutex<JoinSet<()>>,
    /// For the watches, which must not keep this alive.
    this: Weak<Self>,
}

/// The objects of one kind.
struct WatchedKind {
    objects: BTreeMap<Name, DependencyState>,
    watch: AbortHandle,
}

impl Dependencies {
    /// Calls `changed` for each change of an object that others depend on.
    pub(crate) fn new(
        cluster: Watcher,
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

    fn kinds(&self) -> MutexGuard<'_, HashMap<Gvk, WatchedKind>> {
        self.kinds.lock()
    }

    pub fn get(&self, id: &ObjectId) -> DependencyState {
        let kinds = self.kinds();
        let state = kinds.get(&id.gvk).and_then(|kind| kind.objects.get(&name_of(id)));
        state.cloned().unwrap_or_default()
    }

    /// Starts to keep an object.
    pub(crate) fn keep(&self, id: &ObjectId) {
        let mut kinds = self.kinds();
        let kind = kinds.entry(id.gvk.clone()).or_insert_with(|| {
            let scope = Scope { gvk: id.gvk.clone(), namespace: None, selector: None };
            let observer = KindObserver { dependencies: self.this.clone(), gvk: id.gvk.clone() };
            let mut watches = self.watches.lock();
            // Watches that were stopped are removed here; there is no other occasion.
            while watches.try_join_next().is_some() {}
            let watch = watches.spawn(follow(self.cluster.clone(), scope, observer));
            WatchedKind { objects: BTreeMap::new(), watch }
        });
        kind.objects.entry(name_of(id)).or_default();
    }

    /// Forgets an object that nothing depends on any more; the last one of a kind stops the watch.
    pub(crate) fn release(&self, id: &ObjectId) {
        let mut kinds = self.kinds();
        let Some(kind) = kinds.get_mut(&id.gvk) else { return };
        kind.objects.remove(&name_of(id));
        if kind.objects.is_empty() {
            kind.watch.abort();
            kinds.remove(&id.gvk);
        }
    }

    /// Updates the objects of a kind for which `look` returns a state.
    fn update(&self, gvk: &Gvk, look: impl Fn(&Name) -> Option<DependencyState>) {
        let mut changed = Vec::new();
        if let Some(kind) = self.kinds().get_mut(gvk) {
            for (name, state) in &mut kind.objects {
                let Some(now) = look(name) else { continue };
                if version(state) != version(&now) {
                    *state = now;
                    changed.push(name.clone());
                }
            }
        }
        for (namespace, name) in changed {
            let id = ObjectId { gvk: gvk.clone(), namespace: namespace.into(), name: name.into() };
            (self.changed)(id);
        }
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}

fn name_of(id: &ObjectId) -> Name {
    (id.namespace.to_string(), id.name.to_string())
}

/// Returns what distinguishes two states of an object.
fn version(state: &DependencyState) -> Option<&str> {
    match state {
        DependencyState::Unknown => None,
        DependencyState::Missing => Some(""),
        DependencyState::Present(node) => {
            node.at(&["metadata", "resourceVersion"]).and_then(Node::as_str)
        }
    }
}

fn present(object: &Node) -> DependencyState {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Node::as_map_mut) {
        metadata.remove("managedFields");
    }
    DependencyState::Present(Arc::new(object))
}

/// Whether an object is the one that is referred to. A reference always has a namespace, that of the user by default,
/// also if the kind has none.
fn is_referred_to(object: &Name, reference: &Name) -> bool {
    object.1 == reference.1 && (object.0.is_empty() || object.0 == reference.0)
}

/// Passes the watch events of one kind on.
struct KindObserver {
    dependencies: Weak<Dependencies>,
    gvk: Gvk,
}

impl KindObserver {
    fn update(&self, look: impl Fn(&Name) -> Option<DependencyState>) {
        if let Some(dependencies) = self.dependencies.upgrade() {
            dependencies.update(&self.gvk, look);
        }
    }
}

impl Observer for KindObserver {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let items: HashMap<Name, Node> =
            items.into_iter().map(|item| (name(&item), item)).collect();
        self.update(|reference| {
            let cluster_wide = (String::new(), reference.1.clone());
            let found = items.get(reference).or_else(|| items.get(&cluster_wide));
            Some(found.map_or(DependencyState::Missing, present))
        });
    }

    fn applied(&self, object: &Node) {
        let name = name(object);
        self.update(|reference| is_referred_to(&name, reference).then(|| present(object)));
    }

    fn deleted(&self, object: &Node) {
        let name = name(object);
        self.update(|reference| {
            is_referred_to(&name, reference).then_some(DependencyState::Missing)
        });
    }

    fn not_installed(&self) {
        self.update(|_| Some(DependencyState::Unknown));
    }
}
