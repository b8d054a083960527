//! The server's certificate.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _},
};
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
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
