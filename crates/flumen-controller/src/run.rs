//! The controller as a whole: what runs, and how it ends.

use std::{
    future::{Future, pending},
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use flumen_api::{GitRepository, OciRepository};
use flumen_kube::{Client, Lost};
use flumen_object::ObjectId;
use flumen_source::{Storage, StorageError, import::ImportError, serve::serve};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

use crate::{
    Controller, Key, Kind, Options,
    assemble::{Assembled, assemble},
    election::Candidate,
    endpoints::Endpoints,
    kustomization, metrics, moved,
    queue::Next,
    rivals::{self, Rival},
    sources::{self, local},
};

/// How long the start waits for the watches of what is applied. A kind may be gone, and its watch never begin.
const SEEN_WITHIN: Duration = Duration::from_secs(5);
/// How long what is at work may go on when the controller is to end.
const GRACE: Duration = Duration::from_secs(5);

/// Why the controller cannot run, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("Flux is at work on this cluster: {}", list(.0))]
    Rivals(Vec<Rival>),
    #[error("cannot tell which objects are meant: {0}")]
    Selector(String),
    #[error("the storage of artifacts cannot be used: {0}")]
    Storage(#[from] StorageError),
    #[error("artifacts cannot be fetched: {0}")]
    Import(#[from] ImportError),
    #[error("cannot listen on {address}: {source}")]
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
    #[error("cannot take part in the election of a leader: {0}")]
    Election(#[source] flumen_kube::Error),
    #[error("no longer leads: {0}")]
    Lost(#[from] Lost),
}

impl RunError {
    /// What a user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Rivals(rivals) => Some(rivals::hint(rivals)),
            Self::Election(error) => error.hint(),
            _ => None,
        }
    }
}

fn list(rivals: &[Rival]) -> String {
    rivals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Runs until `stop` is over. What is at work then may finish for a moment; what only waits is given up: whoever comes next
/// begins it again, and nothing is lost, because the inventory is always ahead.
pub async fn run(
    client: Client,
    options: Options,
    stop: impl Future<Output = ()>,
) -> Result<(), RunError> {
    let local_sources = local::open(&options.local_sources)
        .map_err(|(path, source)| RunError::LocalSource { path, source })?;
    if !options.takeover {
        let rivals = rivals::find(&client, &options).await;
        if !rivals.is_empty() {
            return Err(RunError::Rivals(rivals));
        }
    }
    let storage = Arc::new(Storage::open(&options.storage)?);
    let Assembled { controller, mut background, mut posting } =
        assemble(client, options, local_sources, &storage)?;

    let endpoints = serve_endpoints(&controller).await.map_err(not_served)?;
    let mut stop = pin!(stop);
    let mut candidate = Candidate::of(&controller);
    let elected = tokio::select! {
        () = &mut stop => Ok(false),
        elected = elect(&controller, candidate.as_mut()) => elected.map(|()| true),
    };
    let ended = match elected {
        Ok(true) => lead(&controller, &storage, candidate.as_mut(), stop).await,
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    background.shutdown().await;
    endpoints.shutdown().await;
    drop(controller);
    // Who no longer leads says nothing more.
    if ended.is_ok() {
        let _ = timeout(GRACE, async { while posting.join_next().await.is_some() {} }).await;
    }
    if let Some(candidate) = candidate {
        let _ = timeout(GRACE, candidate.release()).await;
    }
    ended
}

/// Waits until there is work that is ours to do.
async fn elect(controller: &Controller, candidate: Option<&mut Candidate>) -> Result<(), RunError> {
    controller.until_known().await;
    until_seen(controller).await;
    match candidate {
        Some(candidate) => candidate.elect(&controller.metrics).await.map_err(RunError::Election),
        None => Ok(()),
    }
}

/// Does the work for as long as it is ours.
async fn lead(
    controller: &Controller,
    storage: &Arc<Storage>,
    candidate: Option<&mut Candidate>,
    stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), RunError> {
    // Others must not look for artifacts where nobody stores them.
    let server = match controller.options.serve_at {
        Some(address) => {
            let host = &controller.options.advertised_host;
            Some(serve_artifacts(address, storage, host).await.map_err(not_served)?)
        }
        None => None,
    };
    let lost = pin!(async {
        match candidate {
            Some(candidate) => candidate.keep().await,
            None => pending().await,
        }
    });
    let ended = work(controller, stop, lost).await;
    if let Some(server) = server {
        server.shutdown().await;
    }
    ended
}

/// Gives objects their turns until it is over.
async fn work(
    controller: &Controller,
    mut stop: Pin<&mut impl Future<Output = ()>>,
    mut lost: Pin<&mut impl Future<Output = Lost>>,
) -> Result<(), RunError> {
    let at_once = controller.options.concurrent.max(1);
    let permits = Arc::new(Semaphore::new(at_once));
    // Remotes that do not answer hold up other sources, never what is there to be applied.
    let fetching = Semaphore::new(at_once);
    // Passes wait for answers most of the time and compute on threads of their own, so they share this one.
    let mut passes = FuturesUnordered::new();
    loop {
        let turn = async {
            let permit = permits.clone().acquire_owned().await;
            (controller.queue.next().await, permit)
        };
        let ((key, _, waited), permit) = tokio::select! {
            () = &mut stop => break,
            lost = &mut lost => return Err(lost.into()),
            Some((key, next)) = passes.next() => {
                end(controller, &key, next);
                continue;
            }
            turn = turn => turn,
        };
        let Ok(permit) = permit else { break };
        let fetching = &fetching;
        passes.push(async move {
            let next = pass(controller, &key, waited, permit, fetching).await;
            (key, next)
        });
    }
    // Who works has a permit; who only waits has given it back.
    let all = u32::try_from(at_once).unwrap_or(u32::MAX);
    let finish = async {
        let idle = async { tokio::join!(permits.acquire_many(all), fetching.acquire_many(all)) };
        tokio::pin!(idle);
        loop {
            tokio::select! {
                _ = &mut idle => break,
                Some((key, next)) = passes.next() => end(controller, &key, next),
            }
        }
    };
    tokio::select! {
        _ = timeout(GRACE, finish) => Ok(()),
        lost = lost => Err(lost.into()),
    }
}

/// Notes what came of a pass.
fn end(controller: &Controller, key: &Key, next: Next) {
    controller.metrics.ended(key, next);
    controller.queue.done(key, next, controller.options.backoff());
    moved::judge_meanwhile(controller, key);
    if !controller.knows(key) {
        controller.forget(key);
    }
}

fn not_served((address, source): (SocketAddr, io::Error)) -> RunError {
    RunError::Serve { address, source }
}

async fn serve_endpoints(
    controller: &Arc<Controller>,
) -> Result<Endpoints, (SocketAddr, io::Error)> {
    let Options { metrics_at, health_at, .. } = controller.options;
    let (measured, watched) = (Arc::clone(controller), Arc::clone(controller));
    let text = move || measured.metrics.text(&measured.queue, &measured.client);
    let mut endpoints = Endpoints::default();
    endpoints.serve_metrics(metrics_at, metrics::CONTENT_TYPE, text).await?;
    endpoints.serve_health(health_at, move || watched.is_known()).await?;
    Ok(endpoints)
}

async fn serve_artifacts(
    address: SocketAddr,
    storage: &Arc<Storage>,
    advertised_host: &str,
) -> Result<flumen_serve::Running, (SocketAddr, io::Error)> {
    let listener = TcpListener::bind(address).await.map_err(|error| (address, error))?;
    serve(listener, Arc::clone(storage), advertised_host).map_err(|error| (address, error))
}

/// Waits until the watches show what processes before this one have applied, lest it is tried out again.
async fn until_seen(controller: &Controller) {
    for kustomization in controller.kustomizations.all() {
        let inventory = kustomization.status.inventory.iter();
        for entry in inventory.flat_map(|inventory| &inventory.entries) {
            if let Ok(id) = ObjectId::from_inventory(&entry.id, &entry.v) {
                controller.owned.watch(&id.gvk);
            }
        }
    }
    let seen = controller.owned.until_synced();
    if timeout(SEEN_WITHIN, seen).await.is_err() {
        tracing::info!("some kinds cannot be watched yet: their objects are looked at one by one");
    }
}

/// One pass over an object that was ready for a while.
async fn pass(
    controller: &Controller,
    key: &Key,
    waited: Duration,
    permit: OwnedSemaphorePermit,
    fetching: &Semaphore,
) -> Next {
    let turn = async |permit: OwnedSemaphorePermit| {
        let ready = Instant::now();
        drop(permit);
        let turn = fetching.acquire().await;
        controller.metrics.began(key, waited + ready.elapsed());
        turn
    };
    if !controller.serves(key) {
        return Next::Rest;
    }
    match key.kind {
        Kind::Kustomization => {
            controller.metrics.began(key, waited);
            kustomization::reconcile(controller, key, permit).await
        }
        Kind::OciRepository => {
            let _turn = turn(permit).await;
            sources::reconcile::<OciRepository>(controller, key).await
        }
        Kind::GitRepository => {
            let _turn = turn(permit).await;
            sources::reconcile::<GitRepository>(controller, key).await
        }
        // Somebody else makes it; there is nothing to do but to use it.
        Kind::ExternalArtifact => Next::Rest,
    }
}
