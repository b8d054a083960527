//! TLS: which servers are trusted.

use std::{path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::time::Instant;

use super::{
    Target, certificate,
    kubeconfig::{Cluster, Pem},
};
use crate::ConfigError;

const AUTHORITY: &str = "certificate-authority";
/// Age at which the certificates of a file are read again.
const RELOAD_INTERVAL: Duration = Duration::from_mins(1);

/// The configuration for a server, without a client certificate.
pub(super) fn client_config(
    target: &Target,
    provider: &Arc<CryptoProvider>,
) -> Result<ClientConfig, ConfigError> {
    let failed = |error: rustls::Error| ConfigError::Tls { reason: error.to_string() };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match verifier(&target.cluster, provider)? {
        Some(verifier) => builder.dangerous().with_custom_certificate_verifier(verifier),
        // Loading the certificates of the system takes milliseconds that plain HTTP need not spend.
        None if target.server.scheme_str() == Some("http") => {
            builder.with_root_certificates(RootCertStore::empty())
        }
        None => builder.with_platform_verifier().map_err(failed)?,
    };
    Ok(builder.with_no_client_auth())
}

/// `None` leaves the decision to the system.
fn verifier(
    cluster: &Cluster,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ServerCertVerifier>>, ConfigError> {
    if cluster.insecure_skip_tls_verify {
        return Ok(Some(Arc::new(NoVerifier { provider: provider.clone() })));
    }
    Ok(match &cluster.certificate_authority {
        None => None,
        Some(Pem::File(path)) => Some(Arc::new(FileVerifier::new(path.clone(), provider.clone())?)),
        Some(data) => Some(by_authority(data, provider)?),
    })
}

/// Trusts what the authorities in `pem` have signed.
fn by_authority(
    pem: &Pem,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, ConfigError> {
    let place = pem.place(AUTHORITY);
    let certificates = certificate::certificates(&pem.read(AUTHORITY)?, &place)?;
    let mut roots = RootCertStore::empty();
    // As in Go, an unparsable certificate does not invalidate the others.
    roots.add_parsable_certificates(certificates);
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|_| ConfigError::Tls { reason: format!("no certificate in {place} is valid") })
}

/// Trusts the authorities in a file, and reads it again, because authorities are rotated.
#[derive(Debug)]
struct FileVerifier {
    path: PathBuf,
    provider: Arc<CryptoProvider>,
    last: Mutex<(Arc<WebPkiServerVerifier>, Instant)>,
}

impl FileVerifier {
    fn new(path: PathBuf, provider: Arc<CryptoProvider>) -> Result<Self, ConfigError> {
        let first = by_authority(&Pem::File(path.clone()), &provider)?;
        Ok(Self { path, provider, last: Mutex::new((first, Instant::now())) })
    }

    /// Keeps the last authorities if the file cannot be read.
    fn current(&self) -> Arc<WebPkiServerVerifier> {
        let mut last = self.last.lock();
        if last.1.elapsed() >= RELOAD_INTERVAL {
            let read = by_authority(&Pem::File(self.path.clone()), &self.provider);
            *last = (read.unwrap_or_else(|_| last.0.clone()), Instant::now());
        }
        last.0.clone()
    }
}

impl ServerCertVerifier for FileVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.current().verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current().verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current().verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Trusts any server.
#[derive(Debug)]
struct NoVerifier {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
