//! Connections: TLS, sockets, and what can go wrong on the way.

use std::{error::Error as _, io, iter, path::PathBuf, time::Duration};

use reqwest::{
    Body, Certificate, Client, ClientBuilder, Identity, Method, Response, Url, header::HeaderMap,
    redirect,
};

use super::options::{ClientCertificate, ClientOptions, Pem, Proxy};
use crate::{Error, Result};

const USER_AGENT: &str = concat!("flumen/", env!("CARGO_PKG_VERSION"));

/// Two pools: one for the registry itself, one for the hosts that it sends us to. Those are never
/// shown our certificate.
#[derive(Debug)]
pub(super) struct Connections {
    home: Client,
    elsewhere: Client,
}

/// Whom a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Registry,
    Other,
}

impl Connections {
    pub(super) fn new(host: &str, options: &ClientOptions) -> Result<Self> {
        let authorities = match &options.authorities {
            Some(pem) => read_authorities(pem)?,
            None => Vec::new(),
        };
        let proxy = options.proxy.as_ref().map(|proxy| proxy_of(host, proxy)).transpose()?;
        let builder = || {
            let mut builder = Client::builder()
                .user_agent(USER_AGENT)
                .redirect(redirect::Policy::none())
                .referer(false)
                .retry(reqwest::retry::never())
                .connect_timeout(options.timeouts.connect)
                .tcp_nodelay(true)
                .tls_certs_merge(authorities.clone())
                .tls_danger_accept_invalid_certs(options.insecure);
            if let Some(proxy) = &proxy {
                builder = builder.proxy(proxy.clone());
            } else if is_loopback(host) {
                // No proxy of the environment leads to what only this machine can see.
                builder = builder.no_proxy();
            }
            builder
        };
        let build = |builder: ClientBuilder| {
            builder
                .build()
                .map_err(|error| Error::Tls { host: host.to_owned(), reason: innermost(&error) })
        };
        let elsewhere = build(builder())?;
        let home = match &options.client_certificate {
            Some(certificate) => build(builder().identity(read_identity(certificate)?))?,
            None => elsewhere.clone(),
        };
        Ok(Self { home, elsewhere })
    }

    /// Sends one request and waits for the answer to begin.
    pub(super) async fn send(
        &self,
        peer: Peer,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Body,
        limit: Duration,
    ) -> Result<Response> {
        let client = match peer {
            Peer::Registry => &self.home,
            Peer::Other => &self.elsewhere,
        };
        let request = client.request(method, url.clone()).headers(headers).body(body).send();
        match tokio::time::timeout(limit, request).await {
            Ok(sent) => sent.map_err(|error| failure(url, &error)),
            Err(_) => Err(Error::TimedOut { host: authority(url), doing: "waiting for an answer" }),
        }
    }
}

/// Host and port, as messages name them.
pub(super) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Says what kind of trouble it is, without the address: it may hold a signature.
pub(super) fn failure(url: &Url, error: &reqwest::Error) -> Error {
    let host = authority(url);
    if error.is_timeout() {
        return Error::TimedOut { host, doing: "while connecting" };
    }
    let is_tls = error.source().is_some_and(concerns_tls);
    let is_http = !causes(error)
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_parse);
    let reason = innermost(error);
    if !is_http {
        return Error::NotARegistry { host, reason };
    }
    match (is_tls, error.is_connect()) {
        (true, true) => Error::Tls { host, reason },
        (false, true) => Error::Unreachable { host, reason },
        (_, false) => Error::Interrupted { host, reason },
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    iter::successors(error.source(), |cause| (*cause).source())
}

fn concerns_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // An `io::Error` is no link of the chain of causes, it stands in front of one. One that says
        // nothing but that the other side hung up comes from a handshake: nobody reads before.
        return match error.get_ref() {
            Some(inner) => error.kind() == io::ErrorKind::UnexpectedEof || concerns_tls(inner),
            None => false,
        };
    }
    error.source().is_some_and(concerns_tls)
}

/// The last cause says most; those above it repeat that something failed.
fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}

pub(super) fn is_loopback(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("https://{host}/")) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn proxy_of(host: &str, proxy: &Proxy) -> Result<reqwest::Proxy> {
    let made = reqwest::Proxy::all(&proxy.address).map_err(|_| Error::Unreachable {
        host: host.to_owned(),
        reason: "the address of the proxy is invalid".to_owned(),
    })?;
    Ok(match &proxy.user {
        Some((user, password)) => made.basic_auth(user, password.expose()),
        None => made,
    })
}

fn read_authorities(pem: &Pem) -> Result<Vec<Certificate>> {
    let invalid =
        |reason: &str| Error::InvalidCertificate { path: place(pem), reason: reason.to_owned() };
    let certificates = Certificate::from_pem_bundle(&read(pem)?)
        .map_err(|_| invalid("not a file of PEM certificates"))?;
    if certificates.is_empty() {
        return Err(invalid("no PEM certificate in it"));
    }
    Ok(certificates)
}

fn read_identity(files: &ClientCertificate) -> Result<Identity> {
    let mut pem = read(&files.key)?;
    pem.push(b'\n');
    pem.extend(read(&files.certificate)?);
    Identity::from_pem(&pem).map_err(|_| Error::InvalidCertificate {
        path: place(&files.certificate),
        reason: format!("no PEM certificate for the key in `{}`", place(&files.key).display()),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "certificates are the user's files, wherever they are"
)]
fn read(pem: &Pem) -> Result<Vec<u8>> {
    match pem {
        Pem::File(path) => {
            std::fs::read(path).map_err(|source| Error::Io { path: path.clone(), source })
        }
        Pem::Text(text) => Ok(text.clone()),
    }
}

/// Where it comes from, as messages name it.
fn place(pem: &Pem) -> PathBuf {
    match pem {
        Pem::File(path) => path.clone(),
        Pem::Text(_) => PathBuf::from("the configured text"),
    }
}
