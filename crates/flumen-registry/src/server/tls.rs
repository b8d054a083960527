//! The server's certificate.

use std::path::Path;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _};
use tokio_rustls::TlsAcceptor;

use crate::{Error, Result, Tls};

pub(super) fn acceptor(tls: &Tls) -> Result<TlsAcceptor> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source: pem::Error| Error::Certificate { path, source: Box::new(source) }
    };
    let certificates = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable(&tls.certificate))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(unreadable(&tls.key))?;
    let unusable = |source: rustls::Error| Error::Certificate {
        path: tls.certificate.clone(),
        source: Box::new(source),
    };
    flumen_serve::acceptor(certificates, key, None).map_err(unusable)
}
