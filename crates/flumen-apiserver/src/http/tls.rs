//! The server's certificate and the authority that signs it.

use std::fmt;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

use crate::{
    auth::ClientAuthority,
    state::{StateDir, StateError},
};

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum TlsError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error("cannot make a certificate")]
    Make(#[from] rcgen::Error),
    #[error("cannot use the certificate")]
    Use(#[from] rustls::Error),
    #[error("cannot read the certificate of the server or its key")]
    Read(#[from] rustls::pki_types::pem::Error),
    #[error("what was given as the certificate of the server holds none in PEM")]
    Missing,
}

const CA_CERTIFICATE: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
/// How each certificate of a file starts.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

/// A certificate from outside with its key, as PEM. Certificates of authorities may follow it.
#[derive(Clone)]
pub struct ServingCertificate {
    pub certificate: String,
    pub key: String,
}

impl fmt::Debug for ServingCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingCertificate").finish_non_exhaustive()
    }
}

/// What clients are shown and what they have to trust.
pub(crate) struct Identity {
    ca: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    /// A certificate that an authority of the server's own signed. The authority is kept, so that clients
    /// trust the server again after a restart; the certificate is made anew, because the names of the
    /// server may have changed.
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
        let chain = vec![of.signed_by(&key, &issuer)?.der().clone()];
        Ok(Self { ca, chain, key: PrivatePkcs8KeyDer::from(key.serialize_der()).into() })
    }

    /// A certificate from outside. Clients have to trust the last one of its chain.
    pub(crate) fn given(from: &ServingCertificate) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(from.certificate.as_bytes())
            .collect::<Result<Vec<_>, _>>()?;
        let last = from.certificate.rfind(BEGIN).ok_or(TlsError::Missing)?;
        let key = PrivateKeyDer::from_pem_slice(from.key.as_bytes())?;
        Ok(Self { ca: from.certificate[last..].to_owned(), chain, key })
    }

    /// The certificate of the authority, for clients.
    pub(crate) fn ca_pem(&self) -> &str {
        &self.ca
    }

    /// Encrypts connections; of clients that have an authority, certificates are asked for.
    pub(super) fn acceptor(
        &self,
        clients: Option<&ClientAuthority>,
    ) -> Result<TlsAcceptor, TlsError> {
        let verifier = clients.map(ClientAuthority::lenient);
        Ok(flumen_serve::acceptor(self.chain.clone(), self.key.clone_key(), verifier)?)
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
