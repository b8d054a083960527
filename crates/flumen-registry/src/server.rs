//! The registry on the network.

mod tls;

use std::net::SocketAddr;

use flumen_serve::{Limits, Running, Silence, serve_router};
use tokio::{
    net::TcpListener,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use crate::{Auth, Error, Options, Registry, Result};

/// A registry that listens until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    registry: Registry,
    running: Running,
    cleaning: Cleaning,
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
        let limits = Limits {
            connections: options.limits.connections,
            handshake: options.limits.header_timeout,
            head: options.limits.header_timeout,
            silence: Silence::Short(options.limits.idle_timeout),
            ..Limits::default()
        };
        let running = serve_router(listener, tls, limits, &options.names, registry.router())
            .map_err(failed)?;
        let cleaning = Cleaning(tokio::spawn(clean(registry.clone())));
        Ok(Self { registry, running, cleaning })
    }

    /// Where it listens; tells the port when any was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Accepts nothing more, lets running requests end for a moment, and closes the store.
    pub async fn shutdown(self) {
        drop(self.cleaning);
        self.running.shutdown().await;
        // Not left to the last handle: tasks that were told to end may have one for a while.
        self.registry.store().close().await;
    }
}

/// Cleans until it is dropped.
#[derive(Debug)]
struct Cleaning(JoinHandle<()>);

impl Drop for Cleaning {
    fn drop(&mut self) {
        self.0.abort();
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
