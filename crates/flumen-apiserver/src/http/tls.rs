//! The server's certificate and the authority that signs it.

use std::{fmt, net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer,
        pem::{self, PemObject as _},
    },
    sign::CertifiedKey,
};
use thiserror::Error;
use tokio_rustls::TlsAcceptor;

use super::server::CLUSTER_NAMES;
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
}

/// Why a certificate from outside cannot be shown to clients.
#[derive(Debug, Error)]
pub enum ServingCertificateError {
    #[error("cannot read the certificates")]
    Read(#[source] pem::Error),
    #[error("there is no certificate")]
    Missing,
    #[error("there is no key in PEM")]
    Key(#[source] pem::Error),
    #[error("the certificate cannot be used with its key: {0}")]
    Pair(#[source] rustls::Error),
}

impl ServingCertificateError {
    /// Whether it is the key that was given, and not the certificate.
    pub const fn is_about_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }
}

const CA_CERTIFICATE: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
/// How each certificate of a file starts.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

/// A certificate from outside with its key, as PEM. Certificates of authorities may follow it.
#[derive(Clone, Debug)]
pub struct ServingCertificate(Arc<Identity>);

impl ServingCertificate {
    /// Clients have to trust the last certificate.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, ServingCertificateError> {
        let chain = CertificateDer::pem_slice_iter(certificate.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(ServingCertificateError::Read)?;
        let last = certificate.rfind(BEGIN).ok_or(ServingCertificateError::Missing)?;
        let key =
            PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(ServingCertificateError::Key)?;
        CertifiedKey::from_der(chain.clone(), key.clone_key(), &aws_lc_rs::default_provider())
            .map_err(ServingCertificateError::Pair)?;
        Ok(Self(Arc::new(Identity { ca: certificate[last..].to_owned(), chain, key })))
    }

    pub(super) fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.0)
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
    /// Returns a certificate that an authority of the server's own signed. The authority is kept, so that clients
    /// trust the server again after a restart; the certificate is made anew, because the address may have changed.
    pub(crate) fn open(state: &StateDir, address: IpAddr) -> Result<Self, TlsError> {
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
        let mut names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        names.extend(CLUSTER_NAMES.map(str::to_owned));
        if !address.is_unspecified() {
            names.push(address.to_string());
        }
        let mut of = CertificateParams::new(names)?;
        of.distinguished_name.push(DnType::CommonName, "flumen-apiserver");
        of.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        of.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        of.use_authority_key_identifier_extension = true;
        let chain = vec![of.signed_by(&key, &issuer)?.der().clone()];
        Ok(Self { ca, chain, key: PrivatePkcs8KeyDer::from(key.serialize_der()).into() })
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
