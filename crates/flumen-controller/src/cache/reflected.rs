//! The objects of one of the kinds that are reconciled, as they are on the cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use flumen_api::{Kind, Malformed};
use flumen_expr::LabelSelector;
use flumen_object::Gvk;
use flumen_yaml::{Node, Text, to_json};
use serde_json::Value;
use tokio::sync::watch;

use super::{
    Unreadable,
    follow::{Followed, Observer, Scope, follow, version},
};

/// Namespace and name.
pub(crate) type Name = (String, String);

/// An object, or what can be read of one that is malformed.
pub(crate) type Read<K> = Result<Arc<K>, Arc<Unreadable<K>>>;

/// What has happened to an object.
#[derive(Debug)]
pub(crate) struct Change<K> {
    pub(crate) name: Name,
    pub(crate) before: Option<Read<K>>,
    pub(crate) after: Option<Read<K>>,
}

/// All objects of a kind.
pub(crate) struct Reflected<K> {
    objects: Mutex<BTreeMap<Name, Entry<K>>>,
    changed: Box<dyn Fn(Change<K>) + Send + Sync>,
    /// Whether it is known what there is.
    is_known: watch::Sender<bool>,
}

struct Entry<K> {
    version: u64,
    read: Read<K>,
}

impl<K: Kind> Reflected<K> {
    /// `changed` is called for each change, in the order in which they become known.
    pub(crate) fn new(changed: impl Fn(Change<K>) + Send + Sync + 'static) -> Self {
        let is_known = watch::channel(false).0;
        Self { objects: Mutex::default(), changed: Box::new(changed), is_known }
    }

    /// Follows the cluster for ever.
    pub(crate) async fn follow(self: Arc<Self>, cluster: Followed, namespace: Option<String>) {
        let api_version = Text::from(K::api_version());
        let gvk = Gvk::new(&api_version, K::KIND.into());
        let scope = Scope { gvk, namespace, selector: None };
        follow(cluster, scope, self).await;
    }

    /// Waits until it is known what there is: without that, something that is there would seem to be missing.
    pub(crate) async fn until_known(&self) {
        let mut is_known = self.is_known.subscribe();
        let _ = is_known.wait_for(|is_known| *is_known).await;
    }

    /// Whether it is known what there is.
    pub(crate) fn is_known(&self) -> bool {
        *self.is_known.borrow()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<Name, Entry<K>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<Read<K>> {
        let key = (namespace.to_owned(), name.to_owned());
        self.objects().get(&key).map(|entry| entry.read.clone())
    }

    /// Whether an object has labels that a selector asks for, or is gone.
    pub(crate) fn matches(&self, namespace: &str, name: &str, selector: &LabelSelector) -> bool {
        let labels = match self.get(namespace, name) {
            Some(Ok(object)) => object.metadata().labels.clone(),
            Some(Err(unreadable)) => unreadable.metadata().labels.clone(),
            None => return true,
        };
        selector.match_with(|key| labels.get(key).map(String::as_str))
    }

    /// All that can be read.
    pub(crate) fn all(&self) -> Vec<Arc<K>> {
        self.objects().values().filter_map(|entry| entry.read.clone().ok()).collect()
    }

    /// Takes note of an object as a request was answered with it, which may be before the watch tells.
    pub(crate) fn saw(&self, object: &Node) {
        let version = version(object);
        let name = name(object);
        let before = {
            let mut objects = self.objects();
            let known = objects.get(&name);
            if known.is_some_and(|known| known.version >= version && version != u64::MAX) {
                return;
            }
            let entry = Entry { version, read: read(object) };
            objects.insert(name.clone(), entry).map(|entry| entry.read)
        };
        self.tell(name, before);
    }

    /// Takes note that an object is no more, by the answer to the request that ended it.
    pub(crate) fn gone(&self, object: &Node) {
        self.remove(name(object));
    }

    fn tell(&self, name: Name, before: Option<Read<K>>) {
        let after = self.objects().get(&name).map(|entry| entry.read.clone());
        (self.changed)(Change { name, before, after });
    }

    fn remove(&self, name: Name) {
        if let Some(entry) = self.objects().remove(&name) {
            (self.changed)(Change { name, before: Some(entry.read), after: None });
        }
    }
}

impl<K: Kind> Observer for Arc<Reflected<K>> {
    fn listed(&self, items: Vec<Node>, _: &str) {
        let there: BTreeSet<Name> = items.iter().map(name).collect();
        let mut gone: Vec<Name> = self.objects().keys().cloned().collect();
        gone.retain(|name| !there.contains(name));
        for name in gone {
            self.remove(name);
        }
        for item in &items {
            self.saw(item);
        }
        self.is_known.send_replace(true);
    }

    fn unserved(&self) {
        self.is_known.send_replace(true);
    }

    fn applied(&self, object: &Node) {
        self.saw(object);
    }

    fn deleted(&self, object: &Node) {
        self.gone(object);
    }
}

pub(super) fn name(object: &Node) -> Name {
    let text =
        |key| object.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

fn read<K: Kind>(object: &Node) -> Read<K> {
    let json = to_json(object).map_err(|error| error.to_string());
    if let Ok(json) = &json
        && let Ok(object) = serde_json::from_str(json)
    {
        return Ok(Arc::new(object));
    }
    // Only now it matters where the fault is.
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
    Err(Arc::new(Unreadable::new(&value, &malformed)))
}
