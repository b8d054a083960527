//! Connections: from a request to the beginning of its answer.

use std::{net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    Request, Response, StatusCode,
    header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, USER_AGENT},
};
use http_body_util::Full;
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            Client as HttpClient, ResponseFuture,
            connect::{
                Connect, HttpConnector,
                proxy::{SocksV5, Tunnel},
            },
        },
        proxy::matcher::{Intercept, Matcher},
    },
    rt::{TokioExecutor, TokioTimer},
};
use parking_lot::Mutex;
use rustls::{
    ClientConfig,
    client::Resumption,
    crypto::aws_lc_rs,
    pki_types::ServerName,
    sign::{CertifiedKey, SingleCertAndKey},
};
use tokio::task::spawn_blocking;

use super::{Body, Target, certificate, credentials::Credentials, tls};
use crate::{ConfigError, transport::Fault};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection without requests is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// A connection that does not answer a ping is dead; watches would wait on it for minutes.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

const NAME: &str = concat!("flumen/", env!("CARGO_PKG_VERSION"));

/// Connection pool and credentials of one server.
pub(crate) struct Http {
    connector: Connector,
    credentials: Credentials,
    pool: Mutex<Pool>,
    /// Whether answers may be compressed.
    compression: bool,
}

type Certificate = Option<Arc<CertifiedKey>>;

/// Connections that were made with one client certificate.
struct Pool {
    certificate: Certificate,
    send: Sender,
}

type Sender = Arc<dyn Fn(Request<Full<Bytes>>) -> ResponseFuture + Send + Sync>;

impl Http {
    /// Prepares connections; the first request connects. Runs the credential plugin, which can take
    /// seconds.
    pub(crate) async fn new(target: Target) -> Result<Self, ConfigError> {
        let compression = !target.cluster.disable_compression;
        let prepared = spawn_blocking(move || prepare(&target)).await;
        let (connector, credentials) = prepared
            .unwrap_or_else(|error| Err(ConfigError::Credentials { reason: error.to_string() }))?;
        let certificate = credentials.current().await?.certificate;
        let pool = Mutex::new(connector.pool(certificate));
        Ok(Self { connector, credentials, pool, compression })
    }

    /// Sends a request to an absolute address.
    pub(crate) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Body>, Fault> {
        let current = self.credentials.current().await?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(NAME));
        if self.compression {
            headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
        }
        if let Some(authorization) = &current.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let send = self.connections(&current.certificate);
        let response = send(request).await.map_err(Fault::Request)?;
        if response.status() == StatusCode::UNAUTHORIZED {
            self.credentials.reject(&current).await;
        }
        let (parts, incoming) = response.into_parts();
        let body = Body::new(&parts.headers, incoming);
        Ok(Response::from_parts(parts, body))
    }

    /// The pool for this client certificate. The server identifies a connection by its certificate, so a
    /// new certificate needs new connections.
    fn connections(&self, certificate: &Certificate) -> Sender {
        let mut pool = self.pool.lock();
        let is_same = match (certificate, &pool.certificate) {
            (Some(new), Some(old)) => new.cert == old.cert,
            (new, old) => new.is_none() && old.is_none(),
        };
        if !is_same {
            *pool = self.connector.pool(certificate.clone());
        }
        pool.send.clone()
    }
}

/// Reads the files that the kubeconfig names.
fn prepare(target: &Target) -> Result<(Connector, Credentials), ConfigError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let credentials = Credentials::new(target, &provider)?;
    let server_name = target.cluster.tls_server_name.as_ref().map(|name| {
        ServerName::try_from(name.clone()).map_err(|_| ConfigError::Tls {
            reason: format!("`{}` is not the name of a server", name.escape_debug()),
        })
    });
    let connector = Connector {
        tls: tls::client_config(target, &provider)?,
        certificate: certificate::of_user(&target.user, &provider)?,
        server_name: server_name.transpose()?,
        proxy: proxy(target)?,
    };
    Ok((connector, credentials))
}

/// How connections are made.
struct Connector {
    tls: ClientConfig,
    certificate: Certificate,
    server_name: Option<ServerName<'static>>,
    proxy: Option<Proxy>,
}

enum Proxy {
    Socks(Intercept),
    Http(Intercept),
}

impl Connector {
    /// A pool without connections.
    fn pool(&self, certificate: Certificate) -> Pool {
        let mut tls = self.tls.clone();
        if let Some(certificate) = certificate.as_ref().or(self.certificate.as_ref()) {
            tls.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(certificate.clone()));
            // A resumed session would keep the previous certificate.
            tls.resumption = Resumption::default();
        }
        let mut https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        if let Some(name) = &self.server_name {
            https = https.with_server_name_resolver(FixedServerNameResolver::new(name.clone()));
        }
        let https = https.enable_all_versions();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let send = match &self.proxy {
            None => client(https.wrap_connector(tcp)),
            Some(Proxy::Socks(proxy)) => {
                let mut socks = SocksV5::new(proxy.uri().clone(), tcp);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                client(https.wrap_connector(socks))
            }
            Some(Proxy::Http(proxy)) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                if let Some(credentials) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(credentials.clone());
                }
                client(https.wrap_connector(tunnel))
            }
        };
        Pool { certificate, send }
    }
}

fn client(connector: impl Connect + Clone + Send + Sync + 'static) -> Sender {
    let client: HttpClient<_, Full<Bytes>> = HttpClient::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .build(connector);
    Arc::new(move |request| client.request(request))
}

/// The proxy of the kubeconfig, else that of the environment, which as in Go does not count for servers
/// on this machine.
fn proxy(target: &Target) -> Result<Option<Proxy>, ConfigError> {
    let Some(proxy) = intercept(target) else { return Ok(None) };
    match proxy.uri().scheme_str() {
        Some("socks5" | "socks5h") => Ok(Some(Proxy::Socks(proxy))),
        Some("http") => Ok(Some(Proxy::Http(proxy))),
        _ => {
            let reason = "proxies are spoken to over HTTP or SOCKS5 only".to_owned();
            Err(ConfigError::Tls { reason })
        }
    }
}

fn intercept(target: &Target) -> Option<Intercept> {
    if let Some(url) = &target.cluster.proxy_url {
        return Matcher::builder().all(url.as_str()).build().intercept(&target.server);
    }
    let host = target.server.host()?.trim_matches(['[', ']']);
    let is_local =
        host.parse().map_or(host == "localhost", |address: IpAddr| address.is_loopback());
    if is_local { None } else { Matcher::from_env().intercept(&target.server) }
}
