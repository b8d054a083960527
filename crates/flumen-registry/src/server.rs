//! The registry on the network.

use std::{net::SocketAddr, pin::pin, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

use crate::{Auth, Error, Options, Registry, Result};

/// How long requests may go on after the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(1);
/// A client must send the head of a request within this time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// A registry that listens until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    registry: Registry,
    stop: watch::Sender<()>,
    running: JoinHandle<()>,
}

impl Server {
    pub async fn start(options: Options) -> Result<Self> {
        let address = options.address;
        if matches!(options.auth, Auth::LoopbackOnly) && !address.ip().is_loopback() {
            return Err(Error::Exposed { address });
        }
        let registry = Registry::open(&options)?;
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(());
        let running = tokio::spawn(serve(listener, registry.clone(), stopped));
        Ok(Self { address, registry, stop, running })
    }

    /// Where it listens; tells the port when any was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Accepts nothing more, lets running requests end for a moment, and closes the store.
    pub async fn shutdown(self) {
        let _ = self.stop.send(());
        let _ = self.running.await;
    }
}

async fn serve(listener: TcpListener, registry: Registry, mut stop: watch::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // A connection that failed before it was accepted is its client's affair.
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(talk(stream, registry.clone(), stop.clone()));
            }
            Some(_) = connections.join_next() => {}
            _ = stop.changed() => break,
        }
    }
    drop(listener);
    let _ = timeout(PATIENCE, async { while connections.join_next().await.is_some() {} }).await;
}

async fn talk(stream: TcpStream, registry: Registry, mut stop: watch::Receiver<()>) {
    let _ = stream.set_nodelay(true);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let service = TowerToHyperService::new(registry.router());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Broken connections are their client's affair too.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
