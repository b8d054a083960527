//! The server on the network.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use flumen_serve::{Guard, Limits, Peer, Running, Silence, serve};
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use thiserror::Error;
use tokio::net::TcpListener;

use super::{
    service::Front,
    tls::{Identity, ServingCertificate, TlsError},
};
use crate::{
    Api, ApiError,
    auth::{Auth, AuthError, AuthOptions},
    discovery,
    state::StateDir,
};

const LIMITS: Limits = Limits {
    connections: 10_000,
    handshake: Duration::from_secs(10),
    // Clients of this API keep idle connections for 90 seconds; the server should not be the first to
    // close.
    head: Duration::from_mins(2),
    silence: Silence::WhileAllIsRead(Duration::from_mins(1)),
    // Clients whose machine is gone are found out.
    ping: Some(Duration::from_secs(30)),
};

/// Names under which Pods reach the server.
pub(super) const CLUSTER_NAMES: [&str; 3] =
    ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/// How the server listens and whom it knows.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub address: SocketAddr,
    /// An address that others reach needs it.
    pub tls: bool,
    /// What clients are shown; without one, the server makes its own.
    pub certificate: Option<ServingCertificate>,
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
    ca: Option<String>,
    running: Running,
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
        let identity = match (options.tls, &options.certificate) {
            (false, _) => None,
            (true, Some(certificate)) => Some(certificate.identity()),
            (true, None) => Some(Arc::new(Identity::open(&options.state, address.ip())?)),
        };
        let clients = options.auth.client_authority.as_ref();
        let tls = identity.as_ref().map(|identity| identity.acceptor(clients)).transpose()?;
        let auth = Auth::open(&api, options.auth, &options.state).await?;
        discovery::register(&api).await?;
        let failed = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let front = Arc::new(Front::new(api, auth, Guard::new(&CLUSTER_NAMES)));
        let running = serve(listener, tls, LIMITS, move |peer: Peer| {
            let front = Arc::clone(&front);
            let presented = Arc::new(front.read_certificate(&peer.certificates));
            service_fn(move |request: Request<Incoming>| {
                let (front, presented) = (Arc::clone(&front), Arc::clone(&presented));
                async move { Ok::<_, Infallible>(front.answer(request, &presented).await) }
            })
        })
        .map_err(failed)?;
        let ca = identity.map(|identity| identity.ca_pem().to_owned());
        Ok(Self { ca, running })
    }

    /// Where it listens; tells the port when any was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// The certificate that clients have to trust.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Accepts nothing more and lets running requests end for a moment.
    pub async fn shutdown(self) {
        self.running.shutdown().await;
    }
}
