//! Certificates and keys in PEM. No message quotes what a file or a kubeconfig holds.

use std::{fs, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    sign::CertifiedKey,
};

use super::kubeconfig::{Pem, User};
use crate::ConfigError;

impl Pem {
    /// The PEM text. `field` is the name of the file's field in a kubeconfig.
    pub(super) fn read(&self, field: &str) -> Result<Vec<u8>, ConfigError> {
        match self {
            Self::Data(data) => STANDARD
                .decode(one_line(data))
                .map_err(|_| unusable(format!("`{field}-data` is not base64"))),
            Self::File(path) => fs::read(path)
                .map_err(|error| unusable(format!("`{}` cannot be read: {error}", path.display()))),
        }
    }
}

/// Base64 in a block of YAML has line ends.
pub(super) fn one_line(data: &str) -> String {
    data.replace(['\n', '\r'], "")
}

/// The certificates in `pem`, of which there is at least one. `place` says where they are from.
pub(super) fn certificates(
    pem: &[u8],
    place: &str,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(unusable(format!("there is no certificate in {place}"))),
        Err(_) => Err(unusable(format!("{place} is not PEM"))),
    }
}

/// The client certificate of a user of a kubeconfig.
pub(super) fn of_user(
    user: &User,
    provider: &CryptoProvider,
) -> Result<Option<Arc<CertifiedKey>>, ConfigError> {
    let (certificate, key) = match (&user.client_certificate, &user.client_key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(unusable("the client certificate has no key".to_owned())),
        (None, Some(_)) => return Err(unusable("the client key has no certificate".to_owned())),
    };
    let certificate = certificate.read("client-certificate")?;
    let places = ["the client certificate", "the client key"];
    certified_key(&certificate, &key.read("client-key")?, places, provider).map(Some)
}

/// A certificate chain with the key of its first certificate. `places` say where the two are from.
pub(super) fn certified_key(
    certificate: &[u8],
    key: &[u8],
    places: [&str; 2],
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, ConfigError> {
    let chain = certificates(certificate, places[0])?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|_| unusable(format!("there is no private key in {}", places[1])))?;
    let key = CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| unusable(format!("{} does not fit: {error}", places[1])))?;
    Ok(Arc::new(key))
}

fn unusable(reason: String) -> ConfigError {
    ConfigError::Tls { reason }
}
