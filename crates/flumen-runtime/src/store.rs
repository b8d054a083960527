//! Local copy of all objects of one kind, kept by a watch.

mod malformed;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use flumen_api::{Kind, Malformed};
use flumen_expr::LabelSelector;
use flumen_yaml::{Node, to_json};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::watch;

pub use self::malformed::MalformedObject;
use crate::{
    KindInfo, Name,
    follow::{Observer, Scope, Watcher, follow, name, version},
};

/// An object, or the readable part of a malformed one.
pub type Read<K> = Result<Arc<K>, Arc<MalformedObject<K>>>;

/// Two states of an object, before and after a change.
#[derive(Debug)]
pub struct Change<K> {
    pub name: Name,
    pub before: Option<Read<K>>,
    pub after: Option<Read<K>>,
}

impl<K> Change<K> {
    /// Returns the former state, if it could be read.
    pub fn former(&self) -> Option<&K> {
        self.before.as_ref()?.as_deref().ok()
    }

    /// Returns the present state, if it can be read.
    pub fn present(&self) -> Option<&K> {
        self.after.as_ref()?.as_deref().ok()
    }
}

/// All objects of a kind.
pub struct Store<K> {
    info: &'static KindInfo,
    objects: Mutex<BTreeMap<Name, Stored<K>>>,
    changed: Box<dyn Fn(Change<K>) + Send + Sync>,
    /// Whether the first list is complete.
    is_synced: watch::Sender<bool>,
}

struct Stored<K> {
    version: u64,
    read: Read<K>,
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("kind", &self.info.kind).finish_non_exhaustive()
    }
}

impl<K: Kind> Store<K> {
    /// Calls `changed` for each change, in the order in which they become known.
    pub(crate) fn new(
        info: &'static KindInfo,
        changed: impl Fn(Change<K>) + Send + Sync + 'static,
    ) -> Self {
        let is_synced = watch::channel(false).0;
        Self { info, objects: Mutex::default(), changed: Box::new(changed), is_synced }
    }

    /// Watches the cluster and never returns.
    pub(crate) async fn follow(self: Arc<Self>, cluster: Watcher, namespace: Option<String>) {
        let scope = Scope { gvk: self.info.gvk(), namespace, selector: None };
        follow(cluster, scope, self).await;
    }

    /// Waits for the first list: before that, every object would seem to be missing.
    pub(crate) async fn until_synced(&self) {
        let mut is_synced = self.is_synced.subscribe();
        let _ = is_synced.wait_for(|is_synced| *is_synced).await;
    }

    pub(crate) fn is_synced(&self) -> bool {
        *self.is_synced.borrow()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<Name, Stored<K>>> {
        self.objects.lock()
    }

    pub fn get(&self, namespace: &str, name: &str) -> Option<Read<K>> {
        let key = (namespace.to_owned(), name.to_owned());
        self.objects().get(&key).map(|entry| entry.read.clone())
    }

    /// Whether an object has the labels of a selector, or is deleted.
    pub(crate) fn matches(&self, namespace: &str, name: &str, selector: &LabelSelector) -> bool {
        let labels = match self.get(namespace, name) {
            Some(Ok(object)) => object.metadata().labels.clone(),
            Some(Err(malformed)) => malformed.metadata().labels.clone(),
            None => return true,
        };
        selector.match_with(|key| labels.get(key).map(String::as_str))
    }

    /// Returns all objects that can be read.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.objects().values().filter_map(|stored| stored.read.clone().ok()).collect()
    }

    /// Stores an object from the answer to a request, which may come before the watch event.
    pub fn update(&self, object: &Node) {
        let version = version(object);
        let name = name(object);
        let before = {
            let mut objects = self.objects();
            let known = objects.get(&name);
            if known.is_some_and(|known| known.version >= version && version != u64::MAX) {
                return;
            }
            let stored = Stored { version, read: read(object) };
            objects.insert(name.clone(), stored).map(|stored| stored.read)
        };
        let after = self.objects().get(&name).map(|stored| stored.read.clone());
        (self.changed)(Change { name, before, after });
    }

    /// Removes an object, by the answer to the request that deleted it.
    pub fn remove(&self, object: &Node) {
        self.remove_name(name(object));
    }

    fn remove_name(&self, name: Name) {
        if let Some(stored) = self.objects().remove(&name) {
            (self.changed)(Change { name, before: Some(stored.read), after: None });
        }
    }
}

impl<K: Kind> Observer for Arc<Store<K>> {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let there: BTreeSet<Name> = items.iter().map(name).collect();
        let mut gone: Vec<Name> = self.objects().keys().cloned().collect();
        gone.retain(|name| !there.contains(name));
        for name in gone {
            self.remove_name(name);
        }
        for item in &items {
            self.update(item);
        }
        self.is_synced.send_replace(true);
    }

    fn not_installed(&self) {
        self.is_synced.send_replace(true);
    }

    fn applied(&self, object: &Node) {
        self.update(object);
    }

    fn deleted(&self, object: &Node) {
        self.remove(object);
    }
}

fn read<K: Kind>(object: &Node) -> Read<K> {
    let json = to_json(object).map_err(|error| error.to_string());
    if let Ok(json) = &json
        && let Ok(object) = serde_json::from_str(json)
    {
        return Ok(Arc::new(object));
    }
    // Finding the faulty field costs more, and is needed only now.
    let value =
        json.and_then(|json| serde_json::from_str(&json).map_err(|error| error.to_string()));
    let (value, malformed) = match value {
        Ok(value) => match flumen_api::read(&value) {
            Ok(object) => return Ok(Arc::new(object)),
            Err(malformed) => (value, malformed),
        },
        Err(reason) => {
            let ((namespace, name), field) = (name(object), String::new());
            (Value::Null, Malformed { kind: K::KIND, namespace, name, field, reason })
        }
    };
    Err(Arc::new(MalformedObject::new(&value, &malformed)))
}
