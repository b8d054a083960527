//! HTTPS, and what to do without.

use std::{path::Path, sync::Arc};

use flumen_oci::{
    Error,
    client::{ClientCertificate, ClientOptions, Pem},
};
use flumen_testkit::Certificate;
use tokio::net::TcpSocket;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
        server::WebPkiClientVerifier,
    },
};

use super::{options, repository};
use crate::stub::{Reply, Seen, Stub, reply};

fn certificates(path: &Path) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_file_iter(path).expect("a file").map(|read| read.expect("PEM")).collect()
}

/// A server that shows `own`, and asks for certificates from `clients`.
fn acceptor(own: &Certificate, clients: Option<&Certificate>) -> TlsAcceptor {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("protocols");
    let builder = match clients {
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates(&clients.authority));
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        }
        None => builder.with_no_client_auth(),
    };
    let key = PrivateKeyDer::from_pem_file(&own.key).expect("a key");
    let config = builder.with_single_cert(certificates(&own.certificate), key);
    TlsAcceptor::from(Arc::new(config.expect("a certificate")))
}

fn answer(_: &Seen, _: usize) -> Reply {
    reply(200).body(r#"{"tags":["v1"]}"#)
}

#[tokio::test]
async fn an_authority_has_to_be_trusted() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = Certificate::for_loopback(dir.path()).expect("certificates");
    let stub = Stub::start_tls(acceptor(&files, None), answer).await;

    let unknown = ClientOptions::default();
    let error = repository(stub.host(), &unknown).tags().await.expect_err("an unknown authority");
    assert!(matches!(error, Error::Tls { .. }) && error.hint().is_some(), "{error}");
    assert!(stub.seen().is_empty());

    let known = ClientOptions {
        authorities: Some(Pem::File(files.authority.clone())),
        ..ClientOptions::default()
    };
    assert_eq!(repository(stub.host(), &known).tags().await.expect("tags"), ["v1"]);
    let insecure = options();
    assert_eq!(repository(stub.host(), &insecure).tags().await.expect("tags"), ["v1"]);
}

#[tokio::test]
async fn a_certificate_is_shown_to_who_asks_for_it() {
    let (server, client) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
    let files = Certificate::for_loopback(server.path()).expect("certificates");
    let own = Certificate::for_loopback(client.path()).expect("certificates");
    let stub = Stub::start_tls(acceptor(&files, Some(&own)), answer).await;

    let without = ClientOptions {
        authorities: Some(Pem::File(files.authority.clone())),
        ..ClientOptions::default()
    };
    repository(stub.host(), &without).tags().await.expect_err("no certificate");
    let certificate = ClientCertificate {
        certificate: Pem::File(own.certificate.clone()),
        key: Pem::File(own.key.clone()),
    };
    let with = ClientOptions { client_certificate: Some(certificate), ..without };
    assert_eq!(repository(stub.host(), &with).tags().await.expect("tags"), ["v1"]);
}

#[tokio::test]
async fn plain_http_needs_to_be_allowed_even_here() {
    let stub = Stub::start(answer).await;
    let error = repository(stub.host(), &ClientOptions::default()).tags().await.expect_err("HTTP");
    assert!(error.hint().is_some_and(|hint| hint.contains("--insecure-registry")), "{error}");
}

#[tokio::test]
async fn files_that_are_no_certificates_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("ca.pem");
    for text in ["", "nonsense", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        std::fs::write(&path, text).expect("a file");
        let options = ClientOptions {
            authorities: Some(Pem::File(path.clone())),
            ..ClientOptions::default()
        };
        let error = flumen_oci::client::Registry::new("127.0.0.1:1", &options).expect_err(text);
        assert!(error.to_string().contains("ca.pem"), "{error}");
    }
}

#[tokio::test]
async fn nobody_is_there() {
    // Binding the port keeps other tests from listening there.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let host = socket.local_addr().expect("an address").to_string();
    for options in [options(), ClientOptions::default()] {
        let error = repository(&host, &options).tags().await.expect_err("nobody");
        assert!(matches!(error, Error::Unreachable { .. }) && error.hint().is_some(), "{error}");
    }
}
