//! What all reconcilers share.

use std::sync::Arc;

use flumen_api::Kind;
use flumen_expr::LabelSelector;
use flumen_kube::Client;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc::UnboundedSender;

use crate::{
    Clock, Dependencies, EventBus, Index, Key, Options, Queue, Store, follow::Watcher,
    metrics::Metrics, wakeups::Notice,
};

/// The cluster, the queue and the index of references.
#[derive(Debug)]
pub struct Runtime {
    pub client: Client,
    pub clock: Clock,
    pub options: Options,
    pub queue: Queue,
    pub events: EventBus,
    /// Objects of unregistered kinds that others depend on.
    pub dependencies: Arc<Dependencies>,
    /// For watches of further kinds.
    pub watcher: Watcher,
    pub(crate) selector: LabelSelector,
    pub(crate) metrics: Metrics,
    pub(crate) index: Mutex<Index>,
    pub(crate) notices: UnboundedSender<Notice>,
}

impl Runtime {
    /// Locks the index; nothing else is locked while it is.
    pub fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock()
    }

    /// Calls a function after all changes that were seen before, on the task that handles them.
    pub fn after_changes(&self, call: impl FnOnce() + Send + 'static) {
        // The receiver is closed while the controller shuts down.
        let _ = self.notices.send(Notice::Call(Box::new(call)));
    }

    /// Whether an object has the labels of those that are reconciled here, or is deleted.
    pub fn selects<K: Kind>(&self, store: &Store<K>, namespace: &str, name: &str) -> bool {
        self.selector.is_empty() || store.matches(namespace, name, &self.selector)
    }

    /// Removes a deleted object.
    pub(crate) fn forget(&self, key: &Key) {
        self.queue.forget(key);
        self.metrics.forget(key);
    }
}
