//! Credentials, certificates and proxies.

use std::sync::atomic::AtomicBool;

use flumen_git::{
    Access, Authorization, Client, ClientCertificate, Error, GitReference, GitUrl, Limits, Proxy,
};
use flumen_testkit::GitServer;

use crate::{proxies, tls};

/// A server with a repository of one commit.
struct Fixture {
    server: GitServer,
    commit: String,
}

impl Fixture {
    fn new() -> Option<Self> {
        let server = GitServer::start("ways to a repository")?;
        let commit = server.create_repository("org/app").commit(&[("a.yaml", "a\n")]);
        Some(Self { server, commit })
    }

    #[track_caller]
    fn check(&self, url: &str, access: Access) {
        let commit = resolve(url, access).expect("a way");
        assert_eq!(commit, self.commit);
    }
}

fn resolve(url: &str, access: Access) -> Result<String, Error> {
    let url = GitUrl::parse(url).expect("an address");
    let client = Client::new(access, Limits::default());
    Ok(client.resolve(&url, &GitReference::Default, &AtomicBool::new(false))?.id)
}

fn basic(username: &str, password: &str) -> Access {
    let (username, password) = (username.to_owned(), password.to_owned());
    let authorization = Some(Authorization::Basic { username, password });
    Access { authorization, ..Access::default() }
}

#[test]
fn users_and_tokens_open_the_door() {
    let Some(fixture) = Fixture::new() else { return };
    let (private, token) =
        (fixture.server.url("private/org/app"), fixture.server.url("token/org/app"));
    fixture.check(&private, basic("me", "secret"));
    // What is given counts more than what the address says.
    fixture.check(&fixture.server.url_as("you:wrong", "private/org/app"), basic("me", "secret"));
    let bearer = |token: &str| Access {
        authorization: Some(Authorization::Bearer(token.to_owned())),
        ..Access::default()
    };
    fixture.check(&token, bearer("t0ken"));

    for (url, access) in [(&private, basic("me", "h1dden")), (&token, bearer("h1dden"))] {
        let error = resolve(url, access).expect_err("another one");
        assert!(matches!(error, Error::Unauthorized { were_given: true, .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("h1dden"));
    }
}

#[test]
fn servers_are_trusted_by_authority() {
    let Some(fixture) = Fixture::new() else { return };
    let authority = tls::Authority::new();
    let port = authority.serve(fixture.server.port(), tls::Clients::Anyone);
    let url = format!("https://localhost:{port}/org/app");
    let trusting =
        |pem: &str| Access { authorities: Some(pem.as_bytes().to_vec()), ..Access::default() };
    fixture.check(&url, trusting(&authority.pem()));
    // A file may hold several.
    fixture.check(&url, trusting(&format!("{}{}", tls::Authority::new().pem(), authority.pem())));

    let error = resolve(&url, Access::default()).expect_err("nobody knows it");
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    let error = resolve(&url, trusting(&tls::Authority::new().pem())).expect_err("another one");
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    let error = resolve(&url, trusting("nonsense")).expect_err("no certificate");
    assert_eq!(error.to_string(), "the certificates of the authorities cannot be used");
}

#[test]
fn clients_show_certificates() {
    let Some(fixture) = Fixture::new() else { return };
    let authority = tls::Authority::new();
    let port = authority.serve(fixture.server.port(), tls::Clients::WithCertificate);
    let url = format!("https://localhost:{port}/org/app");
    let (chain, key) = authority.client();
    let certificate =
        ClientCertificate { chain: chain.into_bytes(), key: key.clone().into_bytes() };
    let access = Access {
        authorities: Some(authority.pem().into_bytes()),
        certificate: Some(certificate.clone()),
        ..Access::default()
    };
    fixture.check(&url, access.clone());
    let error = resolve(&url, Access { certificate: None, ..access.clone() });
    assert!(matches!(error, Err(Error::Unreachable { .. })), "{error:?}");
    let broken = ClientCertificate { chain: b"none".to_vec(), ..certificate };
    let error = resolve(&url, Access { certificate: Some(broken), ..access });
    let error = error.expect_err("no certificate");
    assert_eq!(error.to_string(), "the client's certificate and its key cannot be used");
    assert!(!format!("{error:?}").contains(key.lines().nth(1).expect("a line")));
}

#[test]
fn proxies_are_asked() {
    let Some(fixture) = Fixture::new() else { return };
    let authority = tls::Authority::new();
    let secure = authority.serve(fixture.server.port(), tls::Clients::Anyone);
    let addresses = [fixture.server.url("org/app"), format!("https://localhost:{secure}/org/app")];
    for kind in [proxies::Kind::Http, proxies::Kind::Socks5] {
        let proxy = proxies::start(kind);
        let through = |username: &str, password: &str| Access {
            authorities: Some(authority.pem().into_bytes()),
            proxy: Some(Proxy {
                url: proxy.url.parse().expect("an address"),
                username: username.to_owned(),
                password: password.to_owned(),
            }),
            ..Access::default()
        };
        for url in &addresses {
            let before = proxy.count();
            fixture.check(url, through("me", "secret"));
            assert!(proxy.count() > before, "{kind:?} was not asked for {url}");
            let error = resolve(url, through("me", "h1dden")).expect_err("another password");
            assert!(!format!("{error} {error:?}").contains("h1dden"), "{error:?}");
        }
    }
}
