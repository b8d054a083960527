//! Clients that say who they are by certificate.

use flumen_apiserver::{
    Api, AuthOptions, ClientAuthority, Server, ServerOptions, ServingCertificate, StateDir,
    StaticTokens,
};
use flumen_store::{Options, Store};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use reqwest::{Certificate, Client, Identity};
use serde_json::{Value, json};

const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A certificate and its key, as PEM.
struct Certified {
    certificate: String,
    key: String,
}

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut of = CertificateParams::default();
        of.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        of.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().expect("a key");
        let pem = of.self_signed(&key).expect("signed").pem();
        Self { pem, issuer: Issuer::new(of, key) }
    }

    fn sign(&self, of: &CertificateParams) -> Certified {
        let key = KeyPair::generate().expect("a key");
        let certificate = of.signed_by(&key, &self.issuer).expect("signed").pem();
        Certified { certificate, key: key.serialize_pem() }
    }
}

/// A certificate of a client with this name, if it has one.
fn client(name: Option<&str>) -> CertificateParams {
    let mut of = CertificateParams::default();
    of.distinguished_name = DistinguishedName::new();
    of.distinguished_name.push(DnType::OrganizationName, "people");
    if let Some(name) = name {
        of.distinguished_name.push(DnType::CommonName, name);
    }
    of.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    of
}

async fn serve(authority: &Authority) -> Server {
    let names = vec!["127.0.0.1".to_owned()];
    let own = authority.sign(&CertificateParams::new(names).expect("names"));
    let own = ServingCertificate::from_pem(&own.certificate, &own.key).expect("a certificate");
    let store = Store::in_memory(Options::default()).expect("a store");
    let auth = AuthOptions {
        tokens: StaticTokens::parse("t0ken,admin,admin-uid").expect("tokens"),
        client_authority: Some(ClientAuthority::from_pem(&authority.pem).expect("an authority")),
    };
    let options = ServerOptions {
        address: "127.0.0.1:0".parse().expect("an address"),
        tls: true,
        certificate: Some(own),
        auth,
        state: StateDir(None),
    };
    let api = Api::open(store).await.expect("an API");
    Server::start(api, options).await.expect("a server")
}

/// The status of the answer, and whom the server takes the client for or why it does not.
async fn who(
    server: &Server,
    authority: &Authority,
    certificate: Option<&Certified>,
    token: &str,
) -> (u16, Value) {
    let root = Certificate::from_pem(authority.pem.as_bytes()).expect("a root");
    let mut client = Client::builder().no_proxy().tls_certs_only([root]);
    if let Some(given) = certificate {
        let pem = format!("{}{}", given.key, given.certificate);
        client = client.identity(Identity::from_pem(pem.as_bytes()).expect("an identity"));
    }
    let client = client.build().expect("a client");
    let url = format!("https://{}{REVIEWS}", server.address());
    let mut request =
        client.post(url).header("content-type", "application/json").body("{}".to_owned());
    if !token.is_empty() {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    let answer: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
    let user = answer.pointer("/status/userInfo");
    (status, user.unwrap_or(&answer["message"]).clone())
}

#[tokio::test]
async fn the_name_is_the_user_and_organizations_are_groups() {
    let authority = Authority::new();
    let server = serve(&authority).await;
    let jane = authority.sign(&client(Some("jane")));
    let (status, user) = who(&server, &authority, Some(&jane), "").await;
    assert_eq!((status, &user["username"]), (201, &json!("jane")));
    assert_eq!(user["groups"], json!(["people", "system:authenticated"]));
    let credential = &user["extra"]["authentication.kubernetes.io/credential-id"][0];
    assert!(credential.as_str().is_some_and(|id| id.starts_with("X509SHA256=")), "{user}");
}

#[tokio::test]
async fn what_cannot_be_trusted_is_refused() {
    let authority = Authority::new();
    let server = serve(&authority).await;
    let mut expired = client(Some("jane"));
    expired.not_after = date_time_ymd(2020, 1, 1);
    let mut of_a_server = client(Some("jane"));
    of_a_server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let refused = [
        authority.sign(&expired),
        authority.sign(&of_a_server),
        Authority::new().sign(&client(Some("jane"))),
    ];
    for certificate in &refused {
        let answer = who(&server, &authority, Some(certificate), "").await;
        assert_eq!(answer, (401, json!("Unauthorized")));
        let (_, user) = who(&server, &authority, Some(certificate), "t0ken").await;
        assert_eq!(user["username"], "admin", "another credential is good");
    }
}

#[tokio::test]
async fn who_presents_nothing_is_anonymous() {
    let authority = Authority::new();
    let server = serve(&authority).await;
    let nameless = authority.sign(&client(None));
    for certificate in [None, Some(&nameless)] {
        let (status, message) = who(&server, &authority, certificate, "").await;
        assert_eq!(status, 403);
        assert!(
            message.as_str().is_some_and(|text| text.contains("system:anonymous")),
            "{message}"
        );
    }
    let jane = authority.sign(&client(Some("jane")));
    let (_, user) = who(&server, &authority, Some(&jane), "nonsense").await;
    assert_eq!(user["username"], "jane", "one good credential is enough");
}

#[test]
fn an_authority_without_certificates_is_none() {
    let error = ClientAuthority::from_pem("nothing").expect_err("no certificate");
    assert_eq!(error.to_string(), "there is no certificate of an authority");
}

#[test]
fn a_certificate_of_the_server_needs_its_own_key() {
    let authority = Authority::new();
    let (one, other) = (authority.sign(&client(None)), authority.sign(&client(None)));
    let refused = |certificate: &str, key: &str| {
        let error = ServingCertificate::from_pem(certificate, key).expect_err("it is refused");
        (error.to_string(), error.is_about_key())
    };
    assert_eq!(refused("a: b", &one.key), ("there is no certificate".to_owned(), false));
    assert_eq!(refused(&one.certificate, "a: b"), ("there is no key in PEM".to_owned(), true));
    let (message, is_about_key) = refused(&one.certificate, &other.key);
    assert!(message.starts_with("the certificate cannot be used with its key: "), "{message}");
    assert!(!is_about_key);
}
