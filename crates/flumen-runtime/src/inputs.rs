//! Watches of the `ConfigMap`s and `Secret`s that objects read values from. Only versions are kept: the content is read
//! when it is needed.

use std::collections::BTreeMap;

use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use parking_lot::Mutex;

use crate::{
    Name,
    follow::{Observer, Scope, Watcher, follow, name, version},
};

/// Watches the objects of a core kind, all of them or those with these labels, and never returns.
pub(crate) async fn watch(
    cluster: Watcher,
    kind: &'static str,
    namespace: Option<String>,
    selector: Option<String>,
    changed: impl Fn(ObjectId) + Send + Sync,
) {
    let scope = Scope { gvk: core_kind(kind), namespace, selector };
    follow(cluster, scope, Versions { kind, changed, known: Mutex::default() }).await;
}

/// Returns a kind of the core group.
pub(crate) fn core_kind(kind: &'static str) -> Gvk {
    Gvk::new(&Text::literal("v1"), Text::literal(kind))
}

struct Versions<F> {
    kind: &'static str,
    changed: F,
    /// `None` before the first list, which is no change.
    known: Mutex<Option<BTreeMap<Name, u64>>>,
}

impl<F: Fn(ObjectId)> Versions<F> {
    fn notify(&self, (namespace, name): Name) {
        let gvk = core_kind(self.kind);
        (self.changed)(ObjectId { gvk, namespace: namespace.into(), name: name.into() });
    }
}

impl<F: Fn(ObjectId) + Send + Sync> Observer for Versions<F> {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let now: BTreeMap<Name, u64> =
            items.iter().map(|item| (name(item), version(item))).collect();
        let Some(before) = self.known.lock().replace(now.clone()) else { return };
        let gone = before.keys().filter(|name| !now.contains_key(*name));
        let changed = now.iter().filter(|(name, version)| before.get(*name) != Some(version));
        for name in gone.chain(changed.map(|(name, _)| name)) {
            self.notify(name.clone());
        }
    }

    fn applied(&self, object: &Node) {
        let (name, version) = (name(object), version(object));
        let mut known = self.known.lock();
        let before = known.get_or_insert_default().insert(name.clone(), version);
        drop(known);
        if before != Some(version) {
            self.notify(name);
        }
    }

    fn deleted(&self, object: &Node) {
        let name = name(object);
        self.known.lock().get_or_insert_default().remove(&name);
        self.notify(name);
    }
}
