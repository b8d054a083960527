//! Connections: accepting, encrypting, dropping and ending them.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::{
    guard::HostNames,
    service::Front,
    stall::Stall,
    tls::{Identity, ServingCertificate, TlsError},
};
use crate::{
    Api, ApiError,
    auth::{Auth, AuthError, AuthOptions, Presented},
    discovery,
    state::StateDir,
};

/// How long requests may go on after the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(1);
/// When no connection can be accepted, files are probably short, and trying again at once is no use.
const BREATH: Duration = Duration::from_millis(50);
const CONNECTIONS: usize = 10_000;
/// How long a client may take to send the head of its next request. Clients of this API keep idle
/// connections for 90 seconds; the server should not be the first to close.
const HEAD: Duration = Duration::from_mins(2);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may leave an answer unread.
const STALL: Duration = Duration::from_mins(1);
/// Clients whose machine is gone are found out by pings.
const PING: Duration = Duration::from_secs(30);

/// How the server listens and whom it knows.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub address: SocketAddr,
    /// An address that others reach needs it.
    pub tls: bool,
    /// What clients are shown; without one, the server makes its own.
    pub certificate: Option<ServingCertificate>,
    /// Names of the server beyond the usual ones.
    pub names: Vec<String>,
    pub auth: AuthOptions,
    pub state: StateDir,
}

/// Why the server did not start.
#[derive(Debug, Error)]
pub enum ServerError {
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error("others can reach {address}, and it is served without {missing}")]
    Exposed { address: SocketAddr, missing: &'static str },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error("cannot make the objects that every server has")]
    Boot(#[from] ApiError),
}

impl ServerError {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Exposed { .. } => Some("listen on 127.0.0.1, or use TLS and a token"),
            _ => None,
        }
    }
}

/// A server that listens until it is shut down or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ca: Option<String>,
    stop: watch::Sender<()>,
    running: JoinHandle<()>,
}

impl Server {
    pub async fn start(api: Api, options: ServerOptions) -> Result<Self, ServerError> {
        let address = options.address;
        if !address.ip().is_loopback() {
            let exposed = |missing| Err(ServerError::Exposed { address, missing });
            if !options.tls {
                return exposed("TLS");
            }
            if options.auth.tokens.is_empty() && options.auth.client_authority.is_none() {
                return exposed("a token or an authority of clients");
            }
        }
        let mut names = options.names.clone();
        if !address.ip().is_unspecified() {
            names.push(address.ip().to_string());
        }
        let identity = match (options.tls, &options.certificate) {
            (false, _) => None,
            (true, Some(certificate)) => Some(Identity::given(certificate)?),
            (true, None) => Some(Identity::open(&options.state, &names)?),
        };
        let clients = options.auth.client_authority.as_ref();
        let tls = identity.as_ref().map(|identity| identity.acceptor(clients)).transpose()?;
        let auth = Auth::open(&api, options.auth, &options.state).await?;
        discovery::register(&api).await?;
        let failed = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(());
        let front = Arc::new(Front::new(api, auth, HostNames::new(&options.names)));
        let running = tokio::spawn(Connections { front, tls, stop: stopped }.serve(listener));
        let ca = identity.map(|identity| identity.ca_pem().to_owned());
        Ok(Self { address, ca, stop, running })
    }

    /// Where it listens; tells the port when any was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate that clients have to trust.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Accepts nothing more and lets running requests end for a moment.
    pub async fn shutdown(self) {
        let _ = self.stop.send(());
        let _ = self.running.await;
    }
}

/// What every connection needs.
#[derive(Clone)]
struct Connections {
    front: Arc<Front>,
    tls: Option<TlsAcceptor>,
    stop: watch::Receiver<()>,
}

impl Connections {
    async fn serve(mut self, listener: TcpListener) {
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let next = async {
                let slot = Arc::clone(&slots).acquire_owned().await;
                (slot, listener.accept().await)
            };
            tokio::select! {
                (slot, accepted) = next => match accepted {
                    Ok((stream, _)) => {
                        let one = self.clone();
                        connections.spawn(async move {
                            one.talk(stream).await;
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
        let _ = timeout(PATIENCE, async { while connections.join_next().await.is_some() {} }).await;
    }

    async fn talk(self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let stream = Stall::new(stream, STALL);
        match &self.tls {
            None => self.answer(stream, Presented::default()).await,
            Some(tls) => {
                if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                    let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
                    let presented = self.front.read_certificate(chain);
                    self.answer(stream, presented).await;
                }
            }
        }
    }

    /// Answers requests until the client or the server has enough. Connections that break are their
    /// client's affair.
    async fn answer(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        presented: Presented,
    ) {
        let presented = Arc::new(presented);
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(1000)
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        let service = service_fn(|request: Request<Incoming>| {
            let (front, presented) = (Arc::clone(&self.front), Arc::clone(&presented));
            async move { Ok::<_, std::convert::Infallible>(front.answer(request, &presented).await) }
        });
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
