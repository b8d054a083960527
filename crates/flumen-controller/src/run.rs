//! The controller as a whole: what runs, and how it ends.

use std::{future::Future, io, net::SocketAddr, path::PathBuf, sync::Arc};

use flumen_api::{GitRepository, OciRepository};
use flumen_kube::Client;
use flumen_source::{Storage, StorageError, import::ImportError, serve::serve};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use crate::{
    Controller, Key, Kind, Options,
    cache::{Owned, Reflected, owned::Hand, referenced},
    events::Recorder,
    index::Index,
    kustomization::{self, memory::Memory},
    queue::{Next, Queue},
    sources::{self, Artifacts, local},
    triggers::{News, handle},
};

/// Why the controller cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the storage of artifacts cannot be used: {0}")]
    Storage(#[from] StorageError),
    #[error("artifacts cannot be fetched: {0}")]
    Import(#[from] ImportError),
    #[error("artifacts cannot be served at {address}: {source}")]
    Serve {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("`{}` cannot be a source: {source}", path.display())]
    LocalSource {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Runs until `stop` is over. What is under way then is given up: whoever comes next begins it again, and nothing is
/// lost, because the inventory is always ahead.
pub async fn run(
    client: Client,
    options: Options,
    stop: impl Future<Output = ()>,
) -> Result<(), RunError> {
    let local_sources = local::open(&options.local_sources)
        .map_err(|(path, source)| RunError::LocalSource { path, source })?;
    let storage = Arc::new(Storage::open(&options.storage)?);
    let server = match options.serve_at {
        Some(address) => Some(serve_artifacts(address, &storage).await?),
        None => None,
    };
    let (news, mut heard) = mpsc::unbounded_channel();
    let (kustomize_events, post_kustomize) = Recorder::new(client.clone(), "kustomize-controller");
    let (source_events, post_sources) = Recorder::new(client.clone(), "source-controller");
    let takeover = kustomization::takeover(&options.override_managers);
    let hand = Hand {
        manager: kustomization::MANAGER.to_owned(),
        group: kustomization::GROUP.to_owned(),
        takeover: takeover.clone(),
    };
    let send = news.clone();
    let kustomizations = Reflected::new(move |change| drop(send.send(News::Kustomization(change))));
    let send = news.clone();
    let git_repositories = Reflected::new(move |change| {
        let artifact = |source: &GitRepository| source.status.artifact.clone();
        drop(send.send(News::of_source(Kind::GitRepository, change, artifact)));
    });
    let send = news.clone();
    let oci_repositories = Reflected::new(move |change| {
        let artifact = |source: &OciRepository| source.status.artifact.clone();
        drop(send.send(News::of_source(Kind::OciRepository, change, artifact)));
    });
    let send = news.clone();
    let external_artifacts = Reflected::new(move |change| {
        let artifact = |source: &flumen_api::ExternalArtifact| source.status.artifact.clone();
        drop(send.send(News::of_source(Kind::ExternalArtifact, change, artifact)));
    });
    let send = news.clone();
    let owned = Owned::new(client.clone(), hand, move |moved| drop(send.send(News::Moved(moved))));
    let controller = Arc::new(Controller {
        artifacts: Artifacts::new(storage)?,
        local_sources,
        queue: Queue::default(),
        kustomizations: Arc::new(kustomizations),
        git_repositories: Arc::new(git_repositories),
        oci_repositories: Arc::new(oci_repositories),
        external_artifacts: Arc::new(external_artifacts),
        owned,
        memory: Memory::default(),
        takeover,
        kustomize_events,
        source_events,
        client,
        options,
    });

    let mut background = JoinSet::new();
    follow(&mut background, &controller, &controller.kustomizations);
    follow(&mut background, &controller, &controller.git_repositories);
    follow(&mut background, &controller, &controller.oci_repositories);
    follow(&mut background, &controller, &controller.external_artifacts);
    for kind in ["ConfigMap", "Secret"] {
        let (client, send) = (controller.client.clone(), news.clone());
        let namespace = controller.options.namespace.clone();
        let watches_all = controller.options.watch_all_references;
        let changed = move |one| drop(send.send(News::Referenced(one)));
        background.spawn(referenced::watch(client, kind, namespace, watches_all, changed));
    }
    for (key, source) in &controller.local_sources {
        background.spawn(local::follow(controller.clone(), key.clone(), source.clone()));
    }
    drop(news);
    let hears = controller.clone();
    background.spawn(async move {
        let mut index = Index::default();
        while let Some(news) = heard.recv().await {
            handle(&hears, &mut index, news);
        }
    });
    let mut posting = JoinSet::new();
    posting.spawn(post_kustomize);
    posting.spawn(post_sources);

    // Passes wait for answers most of the time and compute on threads of their own, so they share this one.
    let mut passes = FuturesUnordered::new();
    let permits = Arc::new(Semaphore::new(controller.options.concurrent.max(1)));
    tokio::pin!(stop);
    tokio::select! {
        () = &mut stop => return Ok(()),
        () = until_known(&controller) => {}
    }
    loop {
        let turn = async {
            let permit = permits.clone().acquire_owned().await;
            (controller.queue.next().await, permit)
        };
        let ((key, _), permit) = tokio::select! {
            () = &mut stop => break,
            Some((key, next)) = passes.next() => {
                controller.queue.done(&key, next, controller.options.backoff());
                if !controller.knows(&key) {
                    controller.queue.forget(&key);
                }
                continue;
            }
            turn = turn => turn,
        };
        let Ok(permit) = permit else { break };
        let controller = &controller;
        passes.push(async move {
            let next = pass(controller, &key, permit).await;
            (key, next)
        });
    }
    drop(passes);
    background.shutdown().await;
    drop(controller);
    while posting.join_next().await.is_some() {}
    if let Some(server) = server {
        server.shutdown().await;
    }
    Ok(())
}

async fn serve_artifacts(
    address: SocketAddr,
    storage: &Arc<Storage>,
) -> Result<flumen_serve::Running, RunError> {
    let failed = |source| RunError::Serve { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    serve(listener, Arc::clone(storage)).map_err(failed)
}

/// Waits until the caches know what there is.
async fn until_known(controller: &Controller) {
    controller.kustomizations.until_known().await;
    controller.git_repositories.until_known().await;
    controller.oci_repositories.until_known().await;
    controller.external_artifacts.until_known().await;
}

fn follow<K: flumen_api::Kind>(
    tasks: &mut JoinSet<()>,
    controller: &Controller,
    reflected: &Arc<Reflected<K>>,
) {
    let options = &controller.options;
    let (namespace, selector) = (options.namespace.clone(), options.selector.clone());
    tasks.spawn(reflected.clone().follow(controller.client.clone(), namespace, selector));
}

async fn pass(
    controller: &Controller,
    key: &Key,
    permit: tokio::sync::OwnedSemaphorePermit,
) -> Next {
    match key.kind {
        Kind::Kustomization => kustomization::reconcile(controller, key, permit).await,
        Kind::OciRepository => sources::reconcile::<OciRepository>(controller, key).await,
        Kind::GitRepository => sources::reconcile::<GitRepository>(controller, key).await,
        // Somebody else makes it; there is nothing to do but to use it.
        Kind::ExternalArtifact => Next::Rest,
    }
}
