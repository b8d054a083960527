//! The kinds of a controller, without their types.

use std::{any::Any, sync::Arc};

use flumen_api::{Kind, Reconciled as _};
use flumen_expr::LabelSelector;
use futures_util::future::LocalBoxFuture;
use tokio::{sync::OwnedSemaphorePermit, task::JoinSet};

use crate::{
    Change, Changed, Key, KindInfo, Reconciler, Reference, Relation, Requeue, Runtime, Store, Wake,
    follow::Watcher, reconciliation::reconcile, status::has_finalizer,
};

/// A kind that is watched, and maybe reconciled.
pub(crate) trait Registered {
    fn info(&self) -> &'static KindInfo;
    fn is_reconciled(&self) -> bool;
    fn watch(&self, watches: &mut JoinSet<()>, cluster: Watcher, namespace: Option<String>);
    fn is_synced(&self) -> bool;
    fn until_synced(&self) -> LocalBoxFuture<'_, ()>;
    /// Whether an object exists.
    fn contains(&self, key: &Key) -> bool;
    /// Whether an object has the labels of a selector, or is deleted.
    fn matches(&self, key: &Key, selector: &LabelSelector) -> bool;
    /// Whether an object exists and is being deleted.
    fn is_terminating(&self, key: &Key) -> bool;
    /// Reads a change of the store of this kind.
    fn read(&self, change: &dyn Any) -> Option<ReadChange>;
    /// Lets the reconciler follow a change.
    fn observe(&self, key: &Key, change: &dyn Any);
    fn wakes(&self, user: &Key, relation: Relation, changed: &Changed<'_>) -> Wake;
    fn reconcile<'a>(
        &'a self,
        runtime: &'a Runtime,
        key: &'a Key,
        worker: OwnedSemaphorePermit,
    ) -> LocalBoxFuture<'a, (Requeue, Option<Relation>)>;
    fn ended(&self, key: &Key);
}

/// What the runtime has to know of a change.
pub(crate) struct ReadChange {
    pub(crate) key: Key,
    pub(crate) event: ChangeEvent,
    /// The object is new, its spec has changed, it is being deleted, or a user requests it.
    pub(crate) is_requested: bool,
    /// What the object may have waited for until now.
    pub(crate) wakes_itself: Option<Relation>,
    pub(crate) references: Vec<Reference>,
    /// The object had our finalizer, and no longer has.
    pub(crate) is_released: bool,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeEvent {
    Added,
    Updated,
    Deleted,
}

impl ChangeEvent {
    fn of<K>(change: &Change<K>) -> Self {
        match (&change.before, &change.after) {
            (_, None) => Self::Deleted,
            (None, Some(_)) => Self::Added,
            (Some(_), Some(_)) => Self::Updated,
        }
    }
}

/// A kind with its reconciler.
pub(crate) struct ReconciledKind<R: Reconciler> {
    pub(crate) store: Arc<Store<R::Object>>,
    pub(crate) reconciler: R,
}

impl<R: Reconciler> ReconciledKind<R> {
    /// Whether a change requests a reconciliation.
    fn is_requested(&self, change: &Change<R::Object>) -> bool {
        let (Some(before), Some(after)) = (change.former(), change.present()) else {
            return change.after.is_some();
        };
        let (old, new) = (before.metadata(), after.metadata());
        let settings = self.reconciler.settings().iter();
        old.uid != new.uid
            || old.generation != new.generation
            || old.deletion_timestamp != new.deletion_timestamp
            || before.requested_at() != after.requested_at()
            || settings
                .into_iter()
                .any(|key| old.annotations.get(*key) != new.annotations.get(*key))
    }
}

impl<R: Reconciler> Registered for ReconciledKind<R> {
    fn info(&self) -> &'static KindInfo {
        self.reconciler.kind()
    }

    fn is_reconciled(&self) -> bool {
        true
    }

    fn watch(&self, watches: &mut JoinSet<()>, cluster: Watcher, namespace: Option<String>) {
        watches.spawn(self.store.clone().follow(cluster, namespace));
    }

    fn is_synced(&self) -> bool {
        self.store.is_synced()
    }

    fn until_synced(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.store.until_synced())
    }

    fn contains(&self, key: &Key) -> bool {
        self.store.get(&key.namespace, &key.name).is_some()
    }

    fn matches(&self, key: &Key, selector: &LabelSelector) -> bool {
        self.store.matches(&key.namespace, &key.name, selector)
    }

    fn is_terminating(&self, key: &Key) -> bool {
        let object = self.store.get(&key.namespace, &key.name);
        object.is_some_and(|object| {
            object.is_ok_and(|object| object.metadata().deletion_timestamp.is_some())
        })
    }

    fn read(&self, change: &dyn Any) -> Option<ReadChange> {
        let change: &Change<R::Object> = change.downcast_ref()?;
        let (namespace, name) = &change.name;
        let is_held =
            |object: Option<&R::Object>| object.is_some_and(|it| has_finalizer(self.info(), it));
        Some(ReadChange {
            key: Key::new(self.info(), namespace, name),
            event: ChangeEvent::of(change),
            is_requested: self.is_requested(change),
            wakes_itself: self.reconciler.wakes_itself(change),
            references: change.present().map_or_else(Vec::new, |it| self.reconciler.references(it)),
            is_released: is_held(change.former()) && !is_held(change.present()),
        })
    }

    fn observe(&self, key: &Key, change: &dyn Any) {
        if let Some(change) = change.downcast_ref() {
            self.reconciler.observe(key, change);
        }
    }

    fn wakes(&self, user: &Key, relation: Relation, changed: &Changed<'_>) -> Wake {
        match self.store.get(&user.namespace, &user.name) {
            Some(Ok(object)) => self.reconciler.wakes(&object, relation, changed),
            _ => Wake::No,
        }
    }

    fn reconcile<'a>(
        &'a self,
        runtime: &'a Runtime,
        key: &'a Key,
        worker: OwnedSemaphorePermit,
    ) -> LocalBoxFuture<'a, (Requeue, Option<Relation>)> {
        Box::pin(reconcile(runtime, &self.store, &self.reconciler, key, worker))
    }

    fn ended(&self, key: &Key) {
        self.reconciler.ended(key);
    }
}

/// A kind that another controller reconciles, and that our kinds refer to.
pub(crate) struct ObservedKind<K> {
    pub(crate) info: &'static KindInfo,
    pub(crate) store: Arc<Store<K>>,
}

impl<K: Kind> Registered for ObservedKind<K> {
    fn info(&self) -> &'static KindInfo {
        self.info
    }

    fn is_reconciled(&self) -> bool {
        false
    }

    fn watch(&self, watches: &mut JoinSet<()>, cluster: Watcher, namespace: Option<String>) {
        watches.spawn(self.store.clone().follow(cluster, namespace));
    }

    fn is_synced(&self) -> bool {
        self.store.is_synced()
    }

    fn until_synced(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.store.until_synced())
    }

    fn contains(&self, key: &Key) -> bool {
        self.store.get(&key.namespace, &key.name).is_some()
    }

    fn matches(&self, key: &Key, selector: &LabelSelector) -> bool {
        self.store.matches(&key.namespace, &key.name, selector)
    }

    fn is_terminating(&self, _: &Key) -> bool {
        false
    }

    fn read(&self, change: &dyn Any) -> Option<ReadChange> {
        let change: &Change<K> = change.downcast_ref()?;
        let (namespace, name) = &change.name;
        Some(ReadChange {
            key: Key::new(self.info, namespace, name),
            event: ChangeEvent::of(change),
            is_requested: false,
            wakes_itself: None,
            references: Vec::new(),
            is_released: false,
        })
    }

    fn observe(&self, _: &Key, _: &dyn Any) {}

    fn wakes(&self, _: &Key, _: Relation, _: &Changed<'_>) -> Wake {
        Wake::No
    }

    fn reconcile<'a>(
        &'a self,
        _: &'a Runtime,
        _: &'a Key,
        _: OwnedSemaphorePermit,
    ) -> LocalBoxFuture<'a, (Requeue, Option<Relation>)> {
        Box::pin(async { (Requeue::Never, None) })
    }

    fn ended(&self, _: &Key) {}
}
