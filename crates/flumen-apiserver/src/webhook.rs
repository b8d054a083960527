//! Programs of users that the server asks: about admission and about conversion.
//!
//! Nothing runs in this server, so only what is on this machine is asked: at a URL on loopback, or
//! behind a service whose external name is. All others fail, and whoever wanted to ask them decides what
//! that means. Failures are told as the real server tells them.

use std::{net::IpAddr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, header, response::Parts};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::{Api, storage};

/// The longest answer that is read.
const MAX_ANSWER: usize = 3 << 20;
const DEFAULT_PORT: u16 = 443;

/// A program that can be asked.
#[derive(Debug)]
pub(crate) struct Endpoint {
    url: Url,
    host: String,
    port: u16,
    /// Whose certificate is expected.
    name: ServerName<'static>,
    roots: RootCertStore,
    timeout: Duration,
}

/// Asks the program that a `clientConfig` of any kind describes.
pub(crate) async fn ask(
    api: &Api,
    config: &Value,
    seconds: u64,
    question: &Value,
) -> Result<Value, String> {
    let seconds = seconds.clamp(1, 30);
    let url = format!("{}?timeout={seconds}s", url_of(config));
    let asked = match Endpoint::new(api, config, &url, seconds) {
        Ok(endpoint) => endpoint.post(question).await,
        Err(why) => Err(Trouble::Way(why)),
    };
    asked.map_err(|trouble| match trouble {
        Trouble::Way(why) => format!("Post \"{url}\": {why}"),
        Trouble::Answer(why) => why,
    })
}

/// What went wrong: on the way to the program, or with what it answered.
#[derive(Debug)]
enum Trouble {
    Way(String),
    Answer(String),
}

/// The URL of a program. That of a service is made of its name, and says its port even if that is the
/// usual one.
fn url_of(config: &Value) -> String {
    if let Some(url) = config["url"].as_str() {
        return url.to_owned();
    }
    let (namespace, name, port) = service_of(config);
    let path = config["service"]["path"].as_str().unwrap_or_default().trim_start_matches('/');
    format!("https://{name}.{namespace}.svc:{port}/{path}")
}

fn service_of(config: &Value) -> (&str, &str, u16) {
    let service = &config["service"];
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    let port = service["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    (text("namespace"), text("name"), port.unwrap_or(DEFAULT_PORT))
}

impl Endpoint {
    fn new(api: &Api, config: &Value, url: &str, seconds: u64) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let (host, port) = if config["url"].is_string() {
            (host_of(&url)?, url.port_or_known_default().unwrap_or(DEFAULT_PORT))
        } else {
            let (namespace, name, port) = service_of(config);
            (external_name(api, namespace, name)?, port)
        };
        if !is_local(&host) || url.scheme() != "https" {
            return Err(format!("only webhooks on this machine are asked, and {host} is not"));
        }
        let name = server_name(&url)?;
        let mut roots = RootCertStore::empty();
        let bundle = config["caBundle"].as_str().unwrap_or_default();
        let bundle = STANDARD.decode(bundle).map_err(|error| error.to_string())?;
        for certificate in CertificateDer::pem_slice_iter(&bundle) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        let host = match host.as_str() {
            name if name.ends_with("localhost") => "127.0.0.1".to_owned(),
            _ => host,
        };
        Ok(Self { url, host, port, name, roots, timeout: Duration::from_secs(seconds) })
    }

    async fn post(self, question: &Value) -> Result<Value, Trouble> {
        let body = serde_json::to_vec(question).map_err(|error| Trouble::Way(error.to_string()))?;
        let timeout = self.timeout;
        let answered = tokio::time::timeout(timeout, self.exchange(body.into())).await;
        let (head, body) = answered
            .map_err(|_| Trouble::Way("context deadline exceeded".to_owned()))?
            .map_err(Trouble::Way)?;
        if !head.status.is_success() {
            return Err(Trouble::Answer(refusal(&head, &body)));
        }
        serde_json::from_slice(&body).map_err(|error| {
            Trouble::Answer(format!("couldn't get version/kind; json parse error: {error}"))
        })
    }

    async fn exchange(self, body: Bytes) -> Result<(Parts, Bytes), String> {
        let address = format!("{}:{}", self.host, self.port);
        let stream =
            TcpStream::connect((&*self.host, self.port)).await.map_err(|error| {
                match error.kind() {
                    std::io::ErrorKind::ConnectionRefused => {
                        format!("dial tcp {address}: connect: connection refused")
                    }
                    _ => format!("dial tcp {address}: {error}"),
                }
            })?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.roots)
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(config));
        let stream =
            connector.connect(self.name, stream).await.map_err(|error| untrusted(&error))?;
        send(stream, &self.url, body).await
    }
}

fn host_of(url: &Url) -> Result<String, String> {
    match url.host() {
        Some(Host::Domain(name)) => Ok(name.to_owned()),
        Some(Host::Ipv4(address)) => Ok(address.to_string()),
        Some(Host::Ipv6(address)) => Ok(address.to_string()),
        None => Err("the URL names no host".to_owned()),
    }
}

fn server_name(url: &Url) -> Result<ServerName<'static>, String> {
    match url.host() {
        Some(Host::Ipv4(address)) => Ok(ServerName::from(IpAddr::from(address))),
        Some(Host::Ipv6(address)) => Ok(ServerName::from(IpAddr::from(address))),
        Some(Host::Domain(name)) => {
            ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())
        }
        None => Err("the URL names no host".to_owned()),
    }
}

fn is_local(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Where a service is that stands for something outside.
fn external_name(api: &Api, namespace: &str, name: &str) -> Result<String, String> {
    let stored = storage::get(api.store(), &format!("core/services/{namespace}/{name}"))
        .map_err(|error| error.to_string())?;
    let service = stored.ok_or_else(|| format!("service {name:?} not found"))?.object;
    match service["spec"]["externalName"].as_str().filter(|host| !host.is_empty()) {
        Some(host) => Ok(host.to_owned()),
        None => Err(format!(
            "no container runs here, so nothing answers for the service {namespace}/{name}"
        )),
    }
}

/// The one trouble with certificates that everyone has is told in the words that everyone looks for.
fn untrusted(error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
                .to_owned()
        }
        _ => format!("tls: failed to verify certificate: {error}"),
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    url: &Url,
    body: Bytes,
) -> Result<(Parts, Bytes), String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with the answer, and what goes wrong shows there.
    tokio::spawn(connection);
    let request = Request::post(&url[url::Position::BeforePath..])
        .header(header::HOST, url.host_str().unwrap_or_default())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(Full::new(body))
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await;
    Ok((head, body.map_err(|error| error.to_string())?.to_bytes()))
}

/// What a status means that is no success.
fn refusal(head: &Parts, body: &[u8]) -> String {
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_text = kind.is_none_or(|kind| kind.starts_with("text/"));
    let said = String::from_utf8_lossy(body);
    let said = match said.trim() {
        said if is_text && !said.is_empty() => said,
        _ => "unknown",
    };
    match head.status.as_u16() {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 => said.to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later"
            .to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be \
                processing the request"
            .to_owned(),
        500.. => {
            format!("an error on the server ({said:?}) has prevented the request from succeeding")
        }
        code => format!(
            "the server responded with the status code {code} but did not return more information"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_this_machine_is_asked() {
        for host in ["127.0.0.1", "localhost", "hooks.localhost", "::1"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["example.com", "10.0.0.1", "notlocalhost", ""] {
            assert!(!is_local(host), "{host}");
        }
    }
}
