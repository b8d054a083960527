//! The registry on the network.

mod idle;
mod tls;

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{Auth, Error, Options, Registry, Result};
use idle::Idle;

/// How long requests may go on after the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(1);
/// When no connection can be accepted, files are probably short, and trying again at once is no use.
const BREATH: Duration = Duration::from_millis(50);

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
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let registry = Registry::open(&options)?;
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(());
        let front = Front { registry: registry.clone(), tls, stop: stopped };
        let running = tokio::spawn(front.serve(listener));
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
        // Not left to the last handle: tasks that were told to end may have one for a while.
        self.registry.store().close().await;
    }
}

/// What every connection needs.
#[derive(Clone)]
struct Front {
    registry: Registry,
    tls: Option<TlsAcceptor>,
    stop: watch::Receiver<()>,
}

impl Front {
    async fn serve(mut self, listener: TcpListener) {
        let cleaning = tokio::spawn(clean(self.registry.clone()));
        let slots = Arc::new(Semaphore::new(self.registry.limits().connections));
        let mut connections = JoinSet::new();
        loop {
            let next = async {
                let slot = Arc::clone(&slots).acquire_owned().await;
                (slot, listener.accept().await)
            };
            tokio::select! {
                (slot, accepted) = next => match accepted {
                    Ok((stream, _)) => {
                        let front = self.clone();
                        connections.spawn(async move {
                            front.talk(stream).await;
                            drop(slot);
                        });
                    }
                    Err(_) => sleep(BREATH).await,
                },
                Some(_) = connections.join_next() => {}
                // Also when the server was dropped.
                _ = self.stop.changed() => break,
            }
        }
        drop(listener);
        cleaning.abort();
        let _ = timeout(PATIENCE, async { while connections.join_next().await.is_some() {} }).await;
    }

    async fn talk(self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let limits = self.registry.limits();
        let stream = Idle::new(stream, limits.idle_timeout);
        match &self.tls {
            None => self.answer(stream).await,
            Some(tls) => {
                let handshake = timeout(limits.header_timeout, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = handshake {
                    self.answer(stream).await;
                }
            }
        }
    }

    /// Answers requests until the client or the server has enough. Connections that break are
    /// their client's affair.
    async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        let header_timeout = self.registry.limits().header_timeout;
        builder.http1().timer(TokioTimer::new()).header_read_timeout(header_timeout);
        let service = TowerToHyperService::new(self.registry.router());
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut stop = self.stop.clone();
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = stop.changed() => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// Collects garbage now and then.
async fn clean(registry: Registry) {
    let mut ticks = interval(registry.limits().cleaning_interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = registry.collect_garbage().await {
            registry.report().failure(&error);
        }
    }
}
