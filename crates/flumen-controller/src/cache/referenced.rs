//! Each `ConfigMap` and `Secret` that may be referred to. Of each only its version is kept: what it holds is read when it is
//! needed.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use flumen_object::Gvk;
use flumen_yaml::{Node, Text};

use super::{
    follow::{Followed, Observer, Scope, follow, version},
    reflected::{Name, name},
};

/// One that is watched, and has changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Referenced {
    /// `ConfigMap` or `Secret`.
    pub(crate) kind: &'static str,
    pub(crate) name: Name,
}

/// Follows the objects of one kind for ever: all of them, or those with these labels.
pub(crate) async fn watch(
    cluster: Followed,
    kind: &'static str,
    namespace: Option<String>,
    selector: Option<String>,
    changed: impl Fn(Referenced) + Send + Sync,
) {
    let scope =
        Scope { gvk: Gvk::new(&Text::literal("v1"), Text::literal(kind)), namespace, selector };
    follow(cluster, scope, OfKind { kind, changed, known: Mutex::default() }).await;
}

struct OfKind<F> {
    kind: &'static str,
    changed: F,
    /// Versions; nothing before the first list, of which nobody needs to be told.
    known: Mutex<Option<BTreeMap<Name, u64>>>,
}

impl<F: Fn(Referenced)> OfKind<F> {
    fn known(&self) -> MutexGuard<'_, Option<BTreeMap<Name, u64>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, name: Name) {
        (self.changed)(Referenced { kind: self.kind, name });
    }
}

impl<F: Fn(Referenced) + Send + Sync> Observer for OfKind<F> {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let now: BTreeMap<Name, u64> =
            items.iter().map(|item| (name(item), version(item))).collect();
        let Some(before) = self.known().replace(now.clone()) else { return };
        let gone = before.keys().filter(|name| !now.contains_key(*name));
        let changed = now.iter().filter(|(name, version)| before.get(*name) != Some(version));
        for name in gone.chain(changed.map(|(name, _)| name)) {
            self.tell(name.clone());
        }
    }

    fn applied(&self, object: &Node) {
        let (name, version) = (name(object), version(object));
        let mut known = self.known();
        let before = known.get_or_insert_default().insert(name.clone(), version);
        drop(known);
        if before != Some(version) {
            self.tell(name);
        }
    }

    fn deleted(&self, object: &Node) {
        let name = name(object);
        self.known().get_or_insert_default().remove(&name);
        self.tell(name);
    }
}
