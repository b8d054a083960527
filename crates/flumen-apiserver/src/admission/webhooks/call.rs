//! One request to a webhook on this machine.

use std::{net::IpAddr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, header};
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

/// The longest answer that is read.
const MAX_ANSWER: usize = 3 << 20;

/// A webhook that can be asked.
#[derive(Debug)]
pub(super) struct Endpoint {
    url: Url,
    roots: RootCertStore,
    timeout: Duration,
}

impl Endpoint {
    /// The webhook at a URL on loopback; what signs its certificate is PEM in base64.
    pub(super) fn new(url: &str, bundle: &str, seconds: u64) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let is_local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if !is_local || url.scheme() != "https" {
            return Err(format!("only webhooks on this machine are asked, and {url} is not"));
        }
        let mut roots = RootCertStore::empty();
        let bundle = STANDARD.decode(bundle).map_err(|error| error.to_string())?;
        for certificate in CertificateDer::pem_slice_iter(&bundle) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        Ok(Self { url, roots, timeout: Duration::from_secs(seconds.clamp(1, 30)) })
    }

    /// Sends a review and reads the answer.
    pub(super) async fn post(self, review: &Value) -> Result<Value, String> {
        let body = serde_json::to_vec(review).map_err(|error| error.to_string())?;
        let timeout = self.timeout;
        let answered = tokio::time::timeout(timeout, self.exchange(body.into())).await;
        answered.map_err(|_| "context deadline exceeded".to_owned())?
    }

    async fn exchange(self, body: Bytes) -> Result<Value, String> {
        let port = self.url.port_or_known_default().unwrap_or(443);
        let (host, name) = match self.url.host() {
            Some(Host::Ipv4(address)) => {
                (address.to_string(), ServerName::from(IpAddr::from(address)))
            }
            Some(Host::Ipv6(address)) => {
                (address.to_string(), ServerName::from(IpAddr::from(address)))
            }
            Some(Host::Domain(name)) => {
                let server = ServerName::try_from(name.to_owned()).map_err(|e| e.to_string())?;
                ("127.0.0.1".to_owned(), server)
            }
            None => return Err("the URL names no host".to_owned()),
        };
        let stream = TcpStream::connect((&*host, port)).await.map_err(|error| error.to_string())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.roots)
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream).await.map_err(|error| error.to_string())?;
        send(stream, &self.url, body).await
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    url: &Url,
    body: Bytes,
) -> Result<Value, String> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with the answer, and what goes wrong shows there.
    tokio::spawn(connection);
    let host = url.host_str().unwrap_or_default();
    let request = Request::post(&url[url::Position::BeforePath..])
        .header(header::HOST, host)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(Full::new(body))
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    if !status.is_success() {
        return Err(format!(
            "an error on the server ({status}) has prevented the request from succeeding"
        ));
    }
    serde_json::from_slice(&body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn only_this_machine_is_asked() {
        for url in ["https://127.0.0.1:9443/x", "https://localhost/x", "https://[::1]:1/"] {
            assert!(Endpoint::new(url, "", 5).is_ok(), "{url}");
        }
        for url in ["https://example.com/", "http://127.0.0.1/", "https://10.0.0.1/", "nonsense"] {
            assert!(Endpoint::new(url, "", 5).is_err(), "{url}");
        }
    }
}
