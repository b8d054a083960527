//! Registration of kinds, and the life of a controller.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    future::{Future, pending},
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use flumen_api::Kind;
use flumen_expr::LabelSelector;
use flumen_kube::{Client, Lost};
use flumen_object::GroupKind;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use parking_lot::Mutex;
use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{self, UnboundedReceiver, UnboundedSender},
    },
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    Clock, Crds, Dependencies, EventBus, Index, Key, KindInfo, Options, Pool, Queue, Reconciler,
    Relation, Requeue, Rival, Runtime, Store,
    election::{Candidate, lease_name},
    endpoints::Endpoints,
    events::KubernetesEvents,
    follow::Watcher,
    inputs,
    metrics::{self, Metrics},
    registered::{ObservedKind, ReconciledKind, Registered},
    rivals,
    wakeups::{Notice, OnEstablished, Wakeups},
};

/// Time that running reconciliations get on shutdown.
const GRACE: Duration = Duration::from_secs(5);
/// Core kinds that objects read values from.
const INPUTS: [&str; 2] = ["ConfigMap", "Secret"];

type Kinds = Vec<Box<dyn Registered + Send + Sync>>;

/// A controller before its start: kinds are registered here.
pub struct Manager {
    runtime: Arc<Runtime>,
    kinds: Kinds,
    stores: HashMap<TypeId, Box<dyn Any>>,
    on_established: Vec<OnEstablished>,
    notices: UnboundedReceiver<Notice>,
    background: JoinSet<()>,
    posting: JoinSet<()>,
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds: Vec<_> = self.kinds.iter().map(|kind| kind.info().kind).collect();
        f.debug_struct("Manager").field("kinds", &kinds).finish_non_exhaustive()
    }
}

impl Manager {
    /// Returns a manager for the kinds that will be reconciled. The error is that of the label selector.
    pub fn new(
        client: Client,
        options: Options,
        clock: Clock,
        reconciled: &[&'static KindInfo],
    ) -> Result<Self, String> {
        let selector = LabelSelector::parse(options.selector.as_deref().unwrap_or_default())?;
        let (sender, notices) = mpsc::unbounded_channel();
        let crds = Arc::new(Crds::new(client.clone(), sends(&sender, Notice::Established)));
        let watcher = Watcher { client: client.clone(), crds: crds.clone() };
        let controllers = reconciled.iter().map(|kind| kind.controller);
        let (events, posting) = KubernetesEvents::new(&client, &clock, controllers);
        let runtime = Runtime {
            queue: Queue::default(),
            events: EventBus::new(clock.clone(), vec![Box::new(events)]),
            dependencies: Dependencies::new(watcher.clone(), sends(&sender, Notice::Dependency)),
            metrics: Metrics::new(reconciled.to_vec(), options.concurrent),
            index: Mutex::new(Index::default()),
            notices: sender,
            watcher,
            selector,
            client,
            clock,
            options,
        };
        let mut background = JoinSet::new();
        background.spawn(async move { crds.follow().await });
        Ok(Self {
            runtime: Arc::new(runtime),
            kinds: Kinds::new(),
            stores: HashMap::new(),
            on_established: Vec::new(),
            notices,
            background,
            posting,
        })
    }

    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Returns the store of a kind, also before the kind is registered.
    pub fn store<K: Kind>(&mut self, info: &'static KindInfo) -> Arc<Store<K>> {
        let notices = &self.runtime.notices;
        let changed = move |change| Notice::Changed(info, Box::new(change));
        let store = self
            .stores
            .entry(TypeId::of::<K>())
            .or_insert_with(|| Box::new(Arc::new(Store::<K>::new(info, sends(notices, changed)))));
        match store.downcast_ref::<Arc<Store<K>>>() {
            Some(store) => store.clone(),
            None => unreachable!("stores are kept by the types of their objects"),
        }
    }

    /// Registers a kind that is reconciled.
    pub fn reconcile<R: Reconciler>(&mut self, reconciler: R) {
        let store = self.store(reconciler.kind());
        self.kinds.push(Box::new(ReconciledKind { store, reconciler }));
    }

    /// Registers a kind that others reconcile, and that our kinds refer to.
    pub fn observe<K: Kind>(&mut self, info: &'static KindInfo) {
        let store = self.store::<K>(info);
        self.kinds.push(Box::new(ObservedKind { info, store }));
    }

    /// Calls a function for each kind that is served for the first time.
    pub fn on_established(&mut self, established: impl Fn(&GroupKind) + Send + Sync + 'static) {
        self.on_established.push(Box::new(established));
    }

    /// Runs a task for as long as the controller.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.background.spawn(task);
    }

    /// Returns other controllers for these kinds.
    pub async fn rivals(&self, kinds: &[&'static KindInfo]) -> Vec<Rival> {
        let Runtime { client, clock, options, .. } = self.runtime.as_ref();
        let search = rivals::Search {
            client,
            clock,
            controllers: &controllers(kinds.iter().copied()),
            namespace: &options.runtime_namespace,
            selector: options.selector.as_deref(),
            is_elected: options.election.is_some(),
        };
        search.run().await
    }

    /// Starts the watches and the servers. The error is that of an address that a user named.
    pub async fn start(mut self) -> Result<Controller, (SocketAddr, io::Error)> {
        let options = &self.runtime.options;
        let watcher = &self.runtime.watcher;
        for kind in &self.kinds {
            kind.watch(&mut self.background, watcher.clone(), options.namespace.clone());
        }
        if options.watch_references {
            for kind in INPUTS {
                let changed = sends(&self.runtime.notices, Notice::Input);
                let (namespace, selector) =
                    (options.namespace.clone(), options.references_selector.clone());
                let watch = inputs::watch(watcher.clone(), kind, namespace, selector, changed);
                self.background.spawn(watch);
            }
        }
        let candidate = options.election.as_ref().map(|election| {
            let selector = options.selector.as_deref();
            let reconciled = self.kinds.iter().filter(|kind| kind.is_reconciled());
            let names = controllers(reconciled.map(|kind| kind.info()));
            let names = names.into_iter().map(|name| lease_name(name, selector));
            let Runtime { client, metrics, .. } = self.runtime.as_ref();
            let namespace = &options.runtime_namespace;
            Candidate::new(client.clone(), election, namespace, names.collect(), metrics)
        });
        let kinds = Arc::new(self.kinds);
        let mut endpoints = Endpoints::default();
        let (measured, watched) = (self.runtime.clone(), kinds.clone());
        let text = move || measured.metrics.text(&measured.queue, &measured.client);
        endpoints.serve_metrics(options.metrics_at, metrics::CONTENT_TYPE, text).await?;
        let is_ready = move || watched.iter().all(|kind| kind.is_synced());
        endpoints.serve_health(options.health_at, is_ready).await?;
        let (runtime, handled, mut notices) = (self.runtime.clone(), kinds.clone(), self.notices);
        let on_established = self.on_established;
        self.background.spawn(async move {
            let wakeups =
                Wakeups { runtime: &runtime, kinds: &handled, on_established: &on_established };
            while let Some(notice) = notices.recv().await {
                wakeups.handle(notice);
            }
        });
        Ok(Controller {
            runtime: self.runtime,
            kinds,
            candidate,
            endpoints,
            background: self.background,
            posting: self.posting,
        })
    }
}

/// Returns the names of the controllers of some kinds, each once, in the order of the kinds.
fn controllers(kinds: impl Iterator<Item = &'static KindInfo>) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for kind in kinds {
        if !names.contains(&kind.controller) {
            names.push(kind.controller);
        }
    }
    names
}

/// Returns a callback that sends notices.
fn sends<T, F: Fn(T) -> Notice + Send + Sync>(
    notices: &UnboundedSender<Notice>,
    of: F,
) -> impl Fn(T) + Send + Sync + use<T, F> {
    let notices = notices.clone();
    // The receiver is closed while the controller shuts down.
    move |seen| drop(notices.send(of(seen)))
}

/// A controller whose watches are running.
pub struct Controller {
    runtime: Arc<Runtime>,
    kinds: Arc<Kinds>,
    candidate: Option<Candidate>,
    endpoints: Endpoints,
    background: JoinSet<()>,
    posting: JoinSet<()>,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("candidate", &self.candidate).finish_non_exhaustive()
    }
}

impl Controller {
    /// Waits until every store has its first list.
    pub async fn until_synced(&self) {
        for kind in self.kinds.iter() {
            kind.until_synced().await;
        }
    }

    /// Waits until this process is elected; without an election it is.
    pub async fn elect(&mut self) -> Result<(), flumen_kube::Error> {
        match &mut self.candidate {
            Some(candidate) => candidate.elect(&self.runtime.metrics).await,
            None => Ok(()),
        }
    }

    /// Reconciles until `stop` is over, or a Lease is lost.
    ///
    /// Running reconciliations may finish for a moment. Those that only wait are dropped: the next process starts them again,
    /// and nothing is lost, because the inventory is always ahead.
    pub async fn work(&mut self, mut stop: Pin<&mut impl Future<Output = ()>>) -> Result<(), Lost> {
        let Self { runtime, kinds, candidate, .. } = self;
        let mut lost = std::pin::pin!(async {
            match candidate {
                Some(candidate) => candidate.keep().await,
                None => pending().await,
            }
        });
        let concurrent = runtime.options.concurrent.max(1);
        let workers = Workers {
            work: Arc::new(Semaphore::new(concurrent)),
            fetch: Arc::new(Semaphore::new(concurrent)),
        };
        // Reconciliations wait for answers most of the time and compute on threads of their own, so they share this one.
        let mut running = FuturesUnordered::new();
        loop {
            let next = async {
                let worker = workers.work.clone().acquire_owned().await;
                (runtime.queue.next().await, worker)
            };
            let ((key, _, waited), worker) = tokio::select! {
                () = &mut stop => break,
                lost = &mut lost => return Err(lost),
                Some((key, ended)) = running.next() => {
                    end(runtime, kinds, &key, ended);
                    continue;
                }
                next = next => next,
            };
            let Ok(worker) = worker else { break };
            let (runtime, kinds, workers) = (&*runtime, &*kinds, &workers);
            running.push(async move {
                let ended = run_one(runtime, kinds, &key, waited, worker, workers).await;
                (key, ended)
            });
        }
        // Those that only wait have released their workers.
        let all = u32::try_from(concurrent).unwrap_or(u32::MAX);
        let finish = async {
            let idle = async {
                tokio::join!(workers.work.acquire_many(all), workers.fetch.acquire_many(all))
            };
            tokio::pin!(idle);
            loop {
                tokio::select! {
                    _ = &mut idle => break,
                    Some((key, ended)) = running.next() => end(runtime, kinds, &key, ended),
                }
            }
        };
        tokio::select! {
            _ = timeout(GRACE, finish) => Ok(()),
            lost = lost => Err(lost),
        }
    }

    /// Stops the watches and the servers. With `is_leader` the events that wait are posted first.
    pub async fn shutdown(mut self, is_leader: bool) {
        self.background.shutdown().await;
        self.endpoints.shutdown().await;
        drop((self.kinds, self.runtime));
        if is_leader {
            let posted = async { while self.posting.join_next().await.is_some() {} };
            let _ = timeout(GRACE, posted).await;
        }
        if let Some(candidate) = self.candidate {
            let _ = timeout(GRACE, candidate.release()).await;
        }
    }
}

/// The worker pools.
struct Workers {
    work: Arc<Semaphore>,
    fetch: Arc<Semaphore>,
}

/// Reconciles an object that was in the queue for a while.
async fn run_one(
    runtime: &Runtime,
    kinds: &Kinds,
    key: &Key,
    mut waited: Duration,
    mut worker: OwnedSemaphorePermit,
    workers: &Workers,
) -> (Requeue, Option<Relation>) {
    let kind = kinds.iter().find(|kind| kind.info() == key.kind);
    let Some(kind) =
        kind.filter(|kind| runtime.selector.is_empty() || kind.matches(key, &runtime.selector))
    else {
        return (Requeue::Never, None);
    };
    if key.kind.pool == Pool::Fetch {
        let ready = Instant::now();
        drop(worker);
        let Ok(fetching) = workers.fetch.clone().acquire_owned().await else {
            return (Requeue::Never, None);
        };
        worker = fetching;
        waited += ready.elapsed();
    }
    runtime.metrics.started(key, waited);
    kind.reconcile(runtime, key, worker).await
}

/// Ends a reconciliation.
fn end(
    runtime: &Runtime,
    kinds: &Kinds,
    key: &Key,
    (requeue, waits_for): (Requeue, Option<Relation>),
) {
    runtime.metrics.ended(key, requeue);
    runtime.queue.done(key, requeue, waits_for, runtime.options.backoff());
    let kind = kinds.iter().find(|kind| kind.info() == key.kind);
    if let Some(kind) = kind {
        kind.ended(key);
    }
    if !kind.is_some_and(|kind| kind.contains(key)) {
        runtime.forget(key);
    }
}
