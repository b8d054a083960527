//! Credentials and TLS.

use std::{fs, path::Path};

use flumen_registry::{Accounts, Auth, Error, Options, Server, Tls};
use flumen_testkit::Certificate;
use reqwest::{
    Method, StatusCode,
    header::{HOST, ORIGIN},
};

use crate::client::{Fixture, assert_refused, header, sha256};

/// `reader:secret`, hashed with the lowest cost because tests need not wait.
const USERS: &str =
    "# people\nreader:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";

fn accounts(
    directory: &Path,
    users: Option<&str>,
    tokens: Option<&str>,
) -> Result<Accounts, Error> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::write(&path, text).expect("writes");
        path
    };
    let users = users.map(|text| write("users", text));
    let tokens = tokens.map(|text| write("tokens", text));
    Accounts::read(users.as_deref(), tokens.as_deref())
}

async fn guarded(anonymous_read: bool) -> Fixture {
    let directory = tempfile::tempdir().expect("a directory");
    let mut accounts =
        accounts(directory.path(), Some(USERS), Some("t0ken\n")).expect("can be read");
    accounts.anonymous_read = anonymous_read;
    Fixture::with(|options| options.auth = Auth::Required(accounts)).await
}

#[tokio::test]
async fn credentials_are_asked_for_and_checked() {
    let registry = guarded(false).await;
    let ask = registry.get("/v2/").await;
    assert_eq!(header(&ask, "www-authenticate"), "Basic realm=\"registry\"");
    assert_refused(ask, 401, "UNAUTHORIZED").await;

    let base = || registry.request(Method::GET, "/v2/");
    for wrong in [
        base().basic_auth("reader", Some("Secret")),
        base().basic_auth("nobody", Some("secret")),
        base().basic_auth("reader", None::<&str>),
        base().bearer_auth("t0kem"),
        base().header("authorization", "Basic %%%"),
        base().header("authorization", "Digest x"),
    ] {
        assert_refused(wrong.send().await.expect("an answer"), 401, "UNAUTHORIZED").await;
    }
    // The second time it is remembered.
    for right in [
        base().basic_auth("reader", Some("secret")),
        base().basic_auth("reader", Some("secret")),
        base().bearer_auth("t0ken"),
    ] {
        assert_eq!(right.send().await.expect("an answer").status(), StatusCode::OK);
    }
    assert_refused(registry.post("/v2/a/blobs/uploads/", "").await, 401, "UNAUTHORIZED").await;
    assert_refused(registry.get("/v2/_catalog").await, 401, "UNAUTHORIZED").await;
}

#[tokio::test]
async fn everyone_may_read_where_that_is_allowed() {
    let registry = guarded(true).await;
    assert_refused(registry.get("/v2/").await, 401, "UNAUTHORIZED").await;
    assert_eq!(registry.get("/v2/_catalog").await.status(), StatusCode::OK);
    assert_refused(registry.get("/v2/a/manifests/x").await, 404, "MANIFEST_UNKNOWN").await;
    assert_refused(registry.post("/v2/a/blobs/uploads/", "").await, 401, "UNAUTHORIZED").await;
    let wrong = registry.request(Method::GET, "/v2/_catalog").bearer_auth("wrong").send().await;
    assert_refused(wrong.expect("an answer"), 401, "UNAUTHORIZED").await;
}

#[tokio::test]
async fn other_hosts_and_pages_of_other_origins_are_refused() {
    let registry =
        Fixture::with(|options| options.names = vec!["registry.example.com".to_owned()]).await;
    let own = registry.url("");
    for (name, value, status) in [
        (HOST, "registry.example.com", StatusCode::OK),
        (HOST, "localhost:5000", StatusCode::OK),
        (HOST, "evil.example.com", StatusCode::FORBIDDEN),
        (ORIGIN, own.as_str(), StatusCode::OK),
        (ORIGIN, "http://evil.example.com", StatusCode::FORBIDDEN),
    ] {
        let request = registry.request(Method::GET, "/v2/_catalog").header(name, value);
        assert_eq!(request.send().await.expect("an answer").status(), status, "{value}");
    }
    // A page that cannot read the answer can still write.
    let path = format!("/v2/a/blobs/uploads/?digest={}", sha256(b"x"));
    let push = registry.request(Method::POST, &path).header(ORIGIN, "null").body("x");
    assert_eq!(push.send().await.expect("an answer").status(), StatusCode::FORBIDDEN);
    assert_eq!(registry.files_of_blobs(), 0);
}

#[test]
fn files_of_accounts_are_checked_and_never_shown() {
    let directory = tempfile::tempdir().expect("a directory");
    let read =
        |users: Option<&str>, tokens: Option<&str>| accounts(directory.path(), users, tokens);
    let good = read(Some(USERS), Some("t0ken")).expect("can be read");
    assert_eq!(format!("{good:?}"), "Accounts(1 users, 1 tokens)");

    let twice = format!("{USERS}{USERS}");
    for (text, line) in
        [("reader", 1), ("\nreader:plain", 2), ("reader:$2y$04$short", 1), (&twice, 4)]
    {
        let error = read(Some(text), None).expect_err("is refused");
        assert!(error.to_string().contains(&format!("users:{line}: ")), "{error}");
        assert!(!error.to_string().contains("plain"), "{error}");
    }
    assert!(matches!(read(Some("# nobody\n"), None), Err(Error::NoAccounts)));
}

#[tokio::test]
async fn the_registry_speaks_tls() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = Certificate::for_loopback(directory.path()).expect("a certificate");
    let mut options = Options::new(directory.path().join("data"));
    options.tls = Some(Tls { certificate: files.certificate.clone(), key: files.key.clone() });
    let server = Server::start(options.clone()).await.expect("starts");

    let authority = fs::read(&files.authority).expect("reads");
    let authority = reqwest::Certificate::from_pem(&authority).expect("a certificate");
    let client = reqwest::Client::builder().tls_certs_only([authority]).build().expect("a client");
    let answer = client.get(format!("https://{}/v2/", server.address())).send().await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    assert_eq!(answer.status(), StatusCode::OK);
    server.shutdown().await;

    options.tls = Some(Tls { certificate: files.key.clone(), key: files.key });
    let error = Server::start(options).await.expect_err("is refused");
    assert!(matches!(error, Error::Certificate { .. }), "{error}");
}
