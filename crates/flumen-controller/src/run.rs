//! The controller as a whole: what runs, and how it ends.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::{Pin, pin},
    sync::Arc,
};

use flumen_kube::{Client, Lost};
use flumen_runtime::{Clock, Controller, Manager, Rival, hint_for_rivals};
use flumen_source::{Storage, StorageError, import::ImportError, serve::serve};
use tokio::net::TcpListener;

use crate::{
    Options,
    kinds::{RECONCILED, register},
    kustomize::Kustomize,
    source::{Sources, local},
};

/// Why the controller cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("Flux is running on this cluster: {}", list(.0))]
    Rivals(Vec<Rival>),
    #[error("invalid label selector: {0}")]
    Selector(String),
    #[error("cannot use the storage of artifacts: {0}")]
    Storage(#[from] StorageError),
    #[error("cannot fetch artifacts: {0}")]
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
    #[error("cannot take part in the leader election: {0}")]
    Election(#[source] flumen_kube::Error),
    #[error("no longer leads: {0}")]
    Lost(#[from] Lost),
}

impl RunError {
    /// Returns what a user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Rivals(rivals) => Some(hint_for_rivals(rivals)),
            Self::Election(error) => error.hint(),
            _ => None,
        }
    }
}

fn list(rivals: &[Rival]) -> String {
    rivals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Runs until `stop` is over.
pub async fn run(
    client: Client,
    options: Options,
    stop: impl Future<Output = ()>,
) -> Result<(), RunError> {
    let Options { runtime, source, kustomize } = options;
    let directories = local::open(&source.local_sources)
        .map_err(|(path, source)| RunError::LocalSource { path, source })?;
    let ignores_rivals = runtime.takeover;
    let mut manager =
        Manager::new(client, runtime, Clock::system(), &RECONCILED).map_err(RunError::Selector)?;
    if !ignores_rivals {
        let rivals = manager.rivals(&RECONCILED).await;
        if !rivals.is_empty() {
            return Err(RunError::Rivals(rivals));
        }
    }
    let storage = Arc::new(Storage::open(&source.storage)?);
    let sources = Arc::new(Sources::new(&mut manager, source, directories, &storage)?);
    let kustomize = Kustomize::new(&mut manager, kustomize, &sources);
    register(&mut manager, &sources, &kustomize);
    let established = kustomize.clone();
    manager.on_established(move |kind| established.wake_missing(kind));
    local::follow_all(&mut manager, &sources);

    let mut controller = manager.start().await.map_err(not_served)?;
    let mut stop = pin!(stop);
    let elected = tokio::select! {
        () = &mut stop => Ok(false),
        elected = elect(&mut controller, &kustomize) => elected.map(|()| true),
    };
    let ended = match elected {
        Ok(true) => lead(&mut controller, &sources, stop).await,
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    drop((sources, kustomize));
    controller.shutdown(ended.is_ok()).await;
    ended
}

/// Waits until this process has to reconcile.
async fn elect(controller: &mut Controller, kustomize: &Kustomize) -> Result<(), RunError> {
    controller.until_synced().await;
    kustomize.until_synced().await;
    controller.elect().await.map_err(RunError::Election)
}

/// Reconciles, and serves artifacts: other processes must not look for them where none are stored.
async fn lead(
    controller: &mut Controller,
    sources: &Sources,
    stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), RunError> {
    let server = match sources.options.serve_at {
        Some(address) => Some(serve_artifacts(address, sources).await.map_err(not_served)?),
        None => None,
    };
    let ended = controller.work(stop).await;
    if let Some(server) = server {
        server.shutdown().await;
    }
    Ok(ended?)
}

fn not_served((address, source): (SocketAddr, io::Error)) -> RunError {
    RunError::Serve { address, source }
}

async fn serve_artifacts(
    address: SocketAddr,
    sources: &Sources,
) -> Result<flumen_serve::Running, (SocketAddr, io::Error)> {
    let failed = |error| (address, error);
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let storage = Arc::clone(sources.artifacts.storage());
    serve(listener, storage, &sources.options.advertised_host).map_err(failed)
}
