//! One reconciliation of one object, of any kind.
//!
//! What it has to say is kept in the object and written once, at the end; before that only if it takes longer than a
//! second. A reconciliation that only waits releases its worker, and stops when something newer supersedes it.

use std::{future::pending, sync::Arc, time::Duration};

use flumen_api::{ConditionStatus, Kind, READY, Reconciled, mark_stalled, set_condition};
use flumen_yaml::Node;
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, watch},
    time::{Instant, sleep},
};

use crate::{
    Done, Failure, Finalized, Key, KindInfo, MalformedObject, Reconciler, Relation, Requeue,
    Runtime, Severity, Store, status,
};

/// Work that takes longer is shown while it is running.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const MALFORMED: &str = "MalformedObject";

/// A running reconciliation.
#[derive(Debug)]
pub struct Reconciliation<'r, K, N = ()> {
    runtime: &'r Runtime,
    store: &'r Store<K>,
    key: &'r Key,
    started: Instant,
    worker: Mutex<Option<OwnedSemaphorePermit>>,
    wait: watch::Sender<Option<Wait>>,
    /// Notified when there is progress to show.
    progress: Notify,
    state: Mutex<State<K>>,
    notes: Mutex<N>,
}

/// A wait during which nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What is waited for, at the start of a sentence.
    pub what: &'static str,
    /// Reason of a reconciliation that was superseded meanwhile.
    pub reason: &'static str,
    /// A newer trigger ends the wait.
    pub can_be_superseded: bool,
}

#[derive(Debug)]
struct State<K> {
    /// The object with everything that this reconciliation reports.
    object: K,
    /// The object as the cluster has it.
    written: Arc<K>,
    /// When it was written, or the reconciliation started.
    written_at: Instant,
}

impl<'r, K: Reconciled, N: Default> Reconciliation<'r, K, N> {
    fn new(
        runtime: &'r Runtime,
        store: &'r Store<K>,
        key: &'r Key,
        worker: OwnedSemaphorePermit,
        object: Arc<K>,
    ) -> Self {
        Self {
            runtime,
            store,
            key,
            started: Instant::now(),
            worker: Mutex::new(Some(worker)),
            wait: watch::Sender::new(None),
            progress: Notify::new(),
            state: Mutex::new(State {
                object: object.as_ref().clone(),
                written: object,
                written_at: Instant::now(),
            }),
            notes: Mutex::default(),
        }
    }

    pub fn runtime(&self) -> &'r Runtime {
        self.runtime
    }

    pub fn key(&self) -> &'r Key {
        self.key
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the object with everything that is reported so far.
    pub fn object(&self) -> K {
        self.state.lock().object.clone()
    }

    /// Returns the object as the cluster had it at the start, or after the last write.
    pub fn written(&self) -> Arc<K> {
        self.state.lock().written.clone()
    }

    /// Reads or changes the object.
    pub fn with<T>(&self, change: impl FnOnce(&mut K) -> T) -> T {
        change(&mut self.state.lock().object)
    }

    /// Returns what the reconciler has noted. The lock is not to be held while the object is read.
    pub fn notes(&self) -> MutexGuard<'_, N> {
        self.notes.lock()
    }

    /// Gives the worker to other reconciliations: from here on there is little to do.
    pub fn release_worker(&self) {
        self.worker.lock().take();
    }

    /// Notes a wait, or its end.
    pub fn set_wait(&self, wait: Option<Wait>) {
        self.wait
            .send_if_modified(|known| std::mem::replace(known, wait) != wait || wait.is_some());
    }

    /// Shows the object again, if a user may look at it by now.
    pub fn show_progress(&self) {
        self.progress.notify_one();
    }

    /// Posts an event about the object.
    pub fn post(&self, severity: Severity, reason: &str, message: &str, facts: &[(&str, &str)]) {
        let state = self.state.lock();
        self.runtime.events.post(self.key.kind, &state.object, severity, reason, message, facts);
    }

    /// Writes the status as it is now.
    pub async fn write(&self) -> Result<(), flumen_kube::Error> {
        let (before, after) = {
            let state = self.state.lock();
            (state.written.clone(), state.object.clone())
        };
        let client = &self.runtime.client;
        let answer = status::write(client, self.key.kind, before.as_ref(), &after).await?;
        if let Some(node) = answer {
            self.store.update(&node);
            let mut written = after;
            let version = node.at(&["metadata", "resourceVersion"]);
            let version = version.and_then(Node::as_str).unwrap_or_default();
            version.clone_into(&mut written.metadata_mut().resource_version);
            let mut state = self.state.lock();
            state.written = Arc::new(written);
            state.written_at = Instant::now();
        }
        Ok(())
    }

    async fn show(&self) {
        if let Err(error) = self.write().await {
            tracing::warn!(object = %self.key, %error, "cannot show progress");
        }
    }

    /// Writes the status at the end. An error is the requeue.
    async fn write_last(&self) -> Result<(), Requeue> {
        match self.write().await {
            Ok(()) => Ok(()),
            Err(error) if error.is_not_found() => Err(Requeue::Never),
            Err(error) => {
                tracing::error!(object = %self.key, %error, "cannot write the status");
                Err(Requeue::Backoff)
            }
        }
    }

    /// Drives the work to its end, or to that of a wait that is superseded, and shows it if it takes long.
    async fn drive(
        &self,
        work: impl Future<Output = Result<Done, Failure>>,
    ) -> Result<Done, Failure> {
        // It is large, and many are running.
        let mut work = Box::pin(work);
        let superseded = self.superseded();
        tokio::pin!(superseded);
        let shown = sleep(SHOWN_AFTER);
        tokio::pin!(shown);
        let mut is_shown = false;
        let mut waits = self.wait.subscribe();
        loop {
            tokio::select! {
                outcome = &mut work => return outcome,
                failure = &mut superseded => return Err(failure),
                () = &mut shown, if !is_shown => {
                    // The work may have written the status, and its progress with it.
                    let due = self.state.lock().written_at + SHOWN_AFTER;
                    if due > Instant::now() {
                        shown.as_mut().reset(due);
                    } else {
                        is_shown = true;
                        self.show().await;
                    }
                }
                // A long wait is shown, whatever was shown before it.
                Ok(()) = waits.changed(), if is_shown => {
                    is_shown = false;
                    shown.as_mut().reset(Instant::now() + SHOWN_AFTER);
                }
                () = self.progress.notified(), if is_shown => self.show().await,
            }
        }
    }

    /// Returns when a trigger supersedes a wait.
    async fn superseded(&self) -> Failure {
        let mut waits = self.wait.subscribe();
        loop {
            let wait = *waits.borrow_and_update();
            let superseded = async {
                match wait {
                    Some(wait) if wait.can_be_superseded => {
                        (wait, self.runtime.queue.superseded(self.key).await)
                    }
                    _ => pending().await,
                }
            };
            let (wait, by) = tokio::select! {
                superseded = superseded => superseded,
                Ok(()) = waits.changed() => continue,
            };
            let event =
                format!("{} canceled due to new reconciliation triggered by {by}", wait.what);
            let message = format!("New reconciliation triggered by {by}");
            let failure = Failure::retried(wait.reason, message, Duration::ZERO);
            return failure.requeued(Requeue::Now).with_event(Severity::Info, event);
        }
    }
}

/// Reconciles an object. Returns the requeue, and what the object waits for.
pub(crate) async fn reconcile<R: Reconciler>(
    runtime: &Runtime,
    store: &Store<R::Object>,
    reconciler: &R,
    key: &Key,
    worker: OwnedSemaphorePermit,
) -> (Requeue, Option<Relation>) {
    match run(runtime, store, reconciler, key, worker).await {
        Ok(ended) => ended,
        Err(requeue) => (requeue, None),
    }
}

async fn run<R: Reconciler>(
    runtime: &Runtime,
    store: &Store<R::Object>,
    reconciler: &R,
    key: &Key,
    worker: OwnedSemaphorePermit,
) -> Result<(Requeue, Option<Relation>), Requeue> {
    let object = match store.get(&key.namespace, &key.name) {
        Some(Ok(object)) => object,
        Some(Err(object)) => return Err(report_malformed(runtime, store, key, &object).await),
        None => return Err(Requeue::Never),
    };
    if object.metadata().deletion_timestamp.is_some() {
        let run = Reconciliation::new(runtime, store, key, worker, object);
        return Err(finalize(reconciler, &run).await);
    }
    let object = status::with_finalizer(&runtime.client, store, key.kind, object).await?;
    let run = Reconciliation::new(runtime, store, key, worker, object);
    if run.with(|object| object.is_suspended()) {
        run.with(|object| reconciler.complete_suspended(object));
        run.write_last().await?;
        return Err(Requeue::Never);
    }
    let outcome = run.drive(reconciler.reconcile(&run)).await;
    reconciler.complete(&run, &outcome);
    run.with(Reconciled::handle_request);
    run.write_last().await?;
    reconciler.announce(&run, &outcome);
    Ok(match outcome {
        Ok(done) => (Requeue::After(runtime.options.jittered(done.interval)), None),
        Err(failure) => (failure.requeue, failure.waits_for()),
    })
}

/// Finalizes a deleted object, then removes the finalizer.
async fn finalize<R: Reconciler>(
    reconciler: &R,
    run: &Reconciliation<'_, R::Object, R::Notes>,
) -> Requeue {
    if let Finalized::Not(requeue) = reconciler.finalize(run).await {
        return requeue;
    }
    let Reconciliation { runtime, store, key, .. } = run;
    let object = run.written();
    match status::set_finalizer(&runtime.client, key.kind, object.as_ref(), false).await {
        Ok(node) => {
            reconciler.finalized(run);
            if node.at(&["metadata", "deletionTimestamp"]).is_none() {
                store.update(&node);
            } else if node.at(&["metadata", "finalizers"]).is_none() {
                // The watch event follows, and nothing may be deleted twice before it.
                store.remove(&node);
            }
            Requeue::Never
        }
        Err(error) if error.is_not_found() => Requeue::Never,
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot remove the finalizer");
            Requeue::Backoff
        }
    }
}

/// Reports in the status of an object what is wrong with it, and posts it, once. Only a change of the object ends that.
async fn report_malformed<K: Kind>(
    runtime: &Runtime,
    store: &Store<K>,
    key: &Key,
    object: &MalformedObject<K>,
) -> Requeue {
    let info: &'static KindInfo = key.kind;
    tracing::error!(object = %key, error = %object, "cannot be read");
    let message = format!("{object}; nothing is done until it is corrected");
    let mut reported = object.clone();
    let now = runtime.clock.now();
    mark_stalled(&mut reported, MALFORMED, &message, now);
    set_condition(&mut reported, READY, ConditionStatus::False, MALFORMED, &message, now);
    reported.observe();
    match status::write(&runtime.client, info, object, &reported).await {
        Ok(Some(node)) => {
            store.update(&node);
            runtime.events.post(info, &reported, Severity::Error, MALFORMED, &message, &[]);
        }
        Ok(None) => {}
        Err(error) if error.is_not_found() => {}
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot write the status");
            return Requeue::Backoff;
        }
    }
    Requeue::Never
}
