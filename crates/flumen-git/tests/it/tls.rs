//! An encrypted way to a server, certified by an authority of the test.

use std::{net::TcpListener, sync::Arc, thread};

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// Signs certificates.
pub(crate) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// Who may connect.
#[derive(Clone, Copy)]
pub(crate) enum Clients {
    Anyone,
    WithCertificate,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().expect("a key");
        let pem = authority.self_signed(&key).expect("a certificate").pem();
        Self { pem, issuer: Issuer::new(authority, key) }
    }

    pub(crate) fn pem(&self) -> String {
        self.pem.clone()
    }

    /// A certificate of a client, and its key.
    pub(crate) fn client(&self) -> (String, String) {
        self.sign(Vec::new(), ExtendedKeyUsagePurpose::ClientAuth)
    }

    /// Opens an encrypted port that leads to a plain one, for as long as the test lasts.
    pub(crate) fn serve(&self, plain: u16, clients: Clients) -> u16 {
        let names = vec!["localhost".to_owned()];
        let (chain, key) = self.sign(names, ExtendedKeyUsagePurpose::ServerAuth);
        let chain = vec![CertificateDer::from_pem_slice(chain.as_bytes()).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().expect("versions");
        let config = match clients {
            Clients::Anyone => config.with_no_client_auth(),
            Clients::WithCertificate => {
                let mut roots = RootCertStore::empty();
                let root = CertificateDer::from_pem_slice(self.pem.as_bytes());
                roots.add(root.expect("a certificate")).expect("a root");
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                config.with_client_cert_verifier(verifier.build().expect("a verifier"))
            }
        };
        let config = config.with_single_cert(chain, key).expect("a configuration");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("a setting");
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                while let Ok((client, _)) = listener.accept().await {
                    let acceptor = acceptor.clone();
                    tokio::spawn(async move {
                        let mut client = acceptor.accept(client).await?;
                        let mut server = TcpStream::connect(("127.0.0.1", plain)).await?;
                        tokio::io::copy_bidirectional(&mut client, &mut server).await
                    });
                }
            });
        });
        port
    }

    fn sign(&self, names: Vec<String>, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let mut parameters = CertificateParams::new(names).expect("parameters");
        parameters.extended_key_usages = vec![usage];
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}
