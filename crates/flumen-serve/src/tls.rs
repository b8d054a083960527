//! Encryption.

use std::sync::Arc;

use rustls::{
    Error, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::danger::ClientCertVerifier,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::silence::Watched;

/// Encrypts connections with a certificate; those of clients are asked for if somebody verifies them.
pub fn acceptor(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    clients: Option<Arc<dyn ClientCertVerifier>>,
) -> Result<TlsAcceptor, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match clients {
        Some(verifier) => config.with_client_cert_verifier(verifier),
        None => config.with_no_client_auth(),
    };
    let mut config = config.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The other end of a connection.
#[derive(Debug, Default)]
pub struct Peer {
    /// Its certificate, followed by those of authorities; empty if it showed none.
    pub certificates: Vec<CertificateDer<'static>>,
}

impl Peer {
    pub(crate) fn of(stream: &TlsStream<Watched<TcpStream>>) -> Self {
        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        Self { certificates: shown.to_vec() }
    }
}
