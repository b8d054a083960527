//! TLS, HTTP/2 and credentials: what stands between a request and the wire.

use std::{net::IpAddr, time::Duration};

use http::{HeaderValue, Uri, header::USER_AGENT};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            Client as HttpClient,
            connect::{
                Connection, HttpConnector,
                proxy::{SocksV5, Tunnel},
            },
        },
        proxy::matcher::{Intercept, Matcher},
    },
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::{AuthError, Body, ConfigExt as _};
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::Target;
use crate::{ConfigError, Error};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection without requests is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// A connection that does not answer a ping is dead; watches would wait on it for minutes.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

const NAME: &str = concat!("flumen/", env!("CARGO_PKG_VERSION"));

/// Makes the client. Credential plugins run here, which can take seconds.
pub(crate) async fn http_client(target: Target) -> Result<kube::Client, Error> {
    let built = tokio::task::spawn_blocking(move || build(target)).await;
    built.unwrap_or_else(|error| Err(ConfigError::Credentials { reason: error.to_string() }.into()))
}

fn build(target: Target) -> Result<kube::Client, Error> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let Some(proxy) = proxy(&target) else {
        return layered(connector, target.config);
    };
    match proxy.uri().scheme_str() {
        Some("socks5" | "socks5h") => {
            let mut socks = SocksV5::new(proxy.uri().clone(), connector);
            if let Some((user, password)) = proxy.raw_auth() {
                socks = socks.with_auth(user.to_owned(), password.to_owned());
            }
            layered(socks, target.config)
        }
        Some("http") => {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
            if let Some(credentials) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(credentials.clone());
            }
            layered(tunnel, target.config)
        }
        _ => {
            let reason = "proxies are spoken to over HTTP or SOCKS5 only".to_owned();
            Err(ConfigError::Tls { reason }.into())
        }
    }
}

/// The proxy of the kubeconfig, else that of the environment, which as in Go does not count for servers
/// on this machine.
fn proxy(target: &Target) -> Option<Intercept> {
    let server = &target.config.cluster_url;
    if let Some(url) = &target.proxy {
        return Matcher::builder().all(url.as_str()).build().intercept(server);
    }
    let host = server.host()?.trim_matches(['[', ']']);
    let is_local =
        host.parse().map_or(host == "localhost", |address: IpAddr| address.is_loopback());
    if is_local { None } else { Matcher::from_env().intercept(server) }
}

/// The layers of `kube` around a client that also speaks HTTP/2, which the one of `kube` does not.
fn layered<C>(connector: C, mut config: kube::Config) -> Result<kube::Client, Error>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let program = config.auth_info.exec.as_ref().and_then(|exec| exec.command.clone());
    let failed = |error| unusable(program.as_deref(), error);
    let auth = config.auth_layer().map_err(failed)?;
    if auth.is_some() {
        // It gave a token; asked for a certificate, it would run again.
        (config.auth_info.exec, config.auth_info.auth_provider) = (None, None);
    }
    // An error is no problem: somebody else has chosen already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let tls = config.rustls_client_config().map_err(failed)?;
    let mut https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let name = name.clone().try_into().map_err(|_| ConfigError::Tls {
            reason: format!("`{name}` is not the name of a server"),
        })?;
        https = https.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .build(https.enable_all_versions().wrap_connector(connector));

    config.headers.push((USER_AGENT, HeaderValue::from_static(NAME)));
    let headers = config.extra_headers_layer().map_err(failed)?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .option_layer(auth)
        .layer(headers)
        .map_err(BoxError::from)
        .service(http);
    Ok(kube::Client::new(service, config.default_namespace))
}

/// Why the parts could not be put together; never with what a credential plugin printed as its answer.
fn unusable(program: Option<&str>, error: kube::Error) -> Error {
    match error {
        kube::Error::Auth(error) => {
            ConfigError::Credentials { reason: credential_reason(program, &error) }
        }
        error => ConfigError::Tls { reason: error.to_string() },
    }
    .into()
}

/// The errors of `kube` quote the whole output of a plugin, in which credentials may stand.
pub(crate) fn credential_reason(program: Option<&str>, error: &AuthError) -> String {
    let program = program.unwrap_or("the credential plugin");
    match error {
        AuthError::AuthExecStart(error) => format!("`{program}` cannot be run: {error}"),
        AuthError::AuthExecRun { out, .. } => {
            let stderr = String::from_utf8_lossy(&out.stderr);
            let said = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
            let said: String = said.unwrap_or_default().chars().take(300).collect();
            format!("`{program}` failed with {}: {said}", out.status)
        }
        AuthError::AuthExecParse(_) => format!("what `{program}` printed cannot be read"),
        error => error.to_string(),
    }
}
