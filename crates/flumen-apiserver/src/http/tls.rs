//! The server's certificate and the authority that signs it.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

use crate::state::{StateDir, StateError};

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum TlsError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error("cannot make a certificate")]
    Make(#[from] rcgen::Error),
    #[error("cannot use the certificate")]
    Use(#[from] rustls::Error),
    #[error("cannot read the certificate")]
    Read(#[from] rustls::pki_types::pem::Error),
}

const CA_CERTIFICATE: &str = "ca.crt";
const CA_KEY: &str = "ca.key";

/// An authority of the server's own and a certificate that it signed. The authority is kept, so that
/// clients trust the server again after a restart; the certificate is made anew, because the names of
/// the server may have changed.
pub(crate) struct Identity {
    ca: String,
    certificate: String,
    key: KeyPair,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    pub(crate) fn open(state: &StateDir, names: &[String]) -> Result<Self, TlsError> {
        let kept = (state.read(CA_CERTIFICATE)?, state.read(CA_KEY)?);
        let (ca, issuer) = if let (Some(ca), Some(key)) = kept {
            (ca, Issuer::new(authority(), KeyPair::from_pem(&key)?))
        } else {
            let (of, key) = (authority(), KeyPair::generate()?);
            let ca = of.self_signed(&key)?.pem();
            state.write(CA_KEY, &key.serialize_pem())?;
            state.write(CA_CERTIFICATE, &ca)?;
            (ca, Issuer::new(of, key))
        };
        let key = KeyPair::generate()?;
        let mut own = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        own.extend(
            ["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned),
        );
        own.extend(names.iter().cloned());
        let mut of = CertificateParams::new(own)?;
        of.distinguished_name.push(DnType::CommonName, "flumen-apiserver");
        of.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        of.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        of.use_authority_key_identifier_extension = true;
        let certificate = of.signed_by(&key, &issuer)?.pem();
        Ok(Self { ca, certificate, key })
    }

    /// The certificate of the authority, for clients.
    pub(crate) fn ca_pem(&self) -> &str {
        &self.ca
    }

    pub(super) fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let certificates = CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .collect::<Result<_, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(self.key.serialize_pem().as_bytes())?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// What the authority is called. With its key, that is all that signing needs.
fn authority() -> CertificateParams {
    let mut of = CertificateParams::default();
    of.distinguished_name.push(DnType::CommonName, "flumen-ca");
    of.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    of.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    of
}
