//! Registries that want to know who is there.

use std::fs;

use flumen_oci::{
    Error, Repository,
    client::{ClientOptions, Registry},
};

use super::{options, remote, repository};
use crate::stub::{Reply, Seen, Stub, reply};

const TAGS: &str = r#"{"tags":["v1"]}"#;

/// A registry that sends everyone without a token to its own token service.
fn with_tokens(
    token_answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Seen, usize) -> Reply {
    move |seen, _| {
        if seen.path.starts_with("/token") {
            return token_answer(seen);
        }
        if seen.header("authorization") == Some("Bearer good") {
            return if seen.method == "POST" { reply(201) } else { reply(200).body(TAGS) };
        }
        let host = seen.header("host").unwrap_or_default();
        let challenge = format!(
            "Bearer realm=\"http://{host}/token\",service=\"a service\",scope=\"repository:org/app:pull\""
        );
        reply(401).with("WWW-Authenticate", &challenge)
    }
}

fn with_credentials(text: &str) -> ClientOptions {
    ClientOptions { credentials: text.parse().ok(), ..options() }
}

fn with_docker_config(text: &str) -> (tempfile::TempDir, ClientOptions) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("config.json");
    fs::write(&path, text).expect("a file");
    (dir, ClientOptions { docker_config: Some(path), ..options() })
}

#[tokio::test]
async fn everyone_gets_a_token_for_what_is_public() {
    let stub = Stub::start(with_tokens(|_| reply(200).body(r#"{"token":"good"}"#))).await;
    let repository = repository(stub.host(), &options());
    repository.tags().await.expect("tags");
    repository.tags().await.expect("tags");
    let token = "GET /token?service=a+service&scope=repository%3Aorg%2Fapp%3Apull";
    let tags = "GET /v2/org/app/tags/list?n=1000";
    assert_eq!(stub.asked(), [tags, token, tags, tags], "one token for both");
}

#[tokio::test]
async fn a_password_goes_to_the_token_service_and_not_to_the_registry() {
    let stub = Stub::start(with_tokens(|seen| match seen.header("authorization") {
        Some("Basic dXNlcjpzZWNyZXQ=") => {
            reply(200).body(r#"{"access_token":"good","expires_in":300}"#)
        }
        _ => reply(401),
    }))
    .await;
    repository(stub.host(), &with_credentials("user:secret")).tags().await.expect("tags");
    let to_registry = |seen: &&Seen| seen.path.starts_with("/v2/");
    let shown: Vec<_> = stub
        .seen()
        .iter()
        .filter(to_registry)
        .map(|seen| seen.header("authorization").map(str::to_owned))
        .collect();
    assert_eq!(shown, [None, Some("Bearer good".to_owned())]);
    assert!(stub.asked()[1].ends_with("&account=user"));
}

#[tokio::test]
async fn tokens_are_bought_for_what_they_are_needed_for() {
    let stub = Stub::start(with_tokens(|_| reply(200).body(r#"{"token":"good"}"#))).await;
    let remote = remote(stub.host(), &options());
    let blob = flumen_oci::Descriptor::of("text/plain", b"x");
    assert!(remote.mount_blob(&blob, "org/base").await.expect("a mount"));
    let token = &stub.asked()[1];
    let scopes = "&scope=repository%3Aorg%2Fapp%3Apull%2Cpush&scope=repository%3Aorg%2Fbase%3Apull";
    assert!(token.ends_with(scopes), "{token}");
}

#[tokio::test]
async fn what_one_request_needed_is_not_asked_for_the_next() {
    let stub = Stub::start(with_tokens(|_| reply(200).body(r#"{"token":"good"}"#))).await;
    let registry = Registry::new(stub.host(), &options()).expect("a client");
    for path in ["org/app", "org/other"] {
        Repository::Remote(registry.repository(path)).tags().await.expect("tags");
    }
    let token = &stub.asked()[3];
    assert!(token.ends_with("&scope=repository%3Aorg%2Fother%3Apull"), "{token}");
    assert!(!token.contains("org%2Fapp"), "{token}");
}

#[tokio::test]
async fn a_token_that_has_expired_is_replaced() {
    let stub =
        Stub::start(with_tokens(|_| reply(200).body(r#"{"token":"good","expires_in":1}"#))).await;
    let repository = repository(stub.host(), &options());
    repository.tags().await.expect("tags");
    repository.tags().await.expect("tags");
    let bought = stub.asked().iter().filter(|asked| asked.contains("/token")).count();
    assert_eq!(bought, 2);
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let stub = Stub::start(with_tokens(|_| reply(200).body(r#"{"token":"bad"}"#))).await;
    let error = repository(stub.host(), &options()).tags().await.expect_err("a bad token");
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert!(stub.asked().len() <= 4, "{:?}", stub.asked());
}

#[tokio::test]
async fn services_that_only_know_posts_get_posts() {
    let stub = Stub::start(with_tokens(|seen| match (seen.method.as_str(), seen.body_text().as_str()) {
        ("POST", "client_id=flumen&service=a+service&scope=repository%3Aorg%2Fapp%3Apull&grant_type=password&username=user&password=sec%26ret") => {
            reply(200).body(r#"{"access_token":"good"}"#)
        }
        _ => reply(405),
    }))
    .await;
    repository(stub.host(), &with_credentials("user:sec&ret")).tags().await.expect("tags");
}

#[tokio::test]
async fn an_identity_token_is_posted() {
    let stub = Stub::start(with_tokens(|seen| {
        let text = seen.body_text();
        if seen.method == "POST" && text.contains("grant_type=refresh_token&refresh_token=identity")
        {
            reply(200).body(r#"{"access_token":"good"}"#)
        } else {
            reply(401)
        }
    }))
    .await;
    let config = format!(r#"{{"auths":{{"{}":{{"identitytoken":"identity"}}}}}}"#, stub.host());
    let (_dir, options) = with_docker_config(&config);
    repository(stub.host(), &options).tags().await.expect("tags");
}

#[tokio::test]
async fn a_token_alone_is_shown_as_it_is() {
    let stub = Stub::start(with_tokens(|_| reply(500))).await;
    repository(stub.host(), &with_credentials("good")).tags().await.expect("tags");
    assert!(stub.asked().iter().all(|asked| !asked.contains("/token")));
}

/// A registry that wants a password and nothing else.
fn with_password(seen: &Seen, _: usize) -> Reply {
    match seen.header("authorization") {
        Some("Basic dXNlcjpzZWNyZXQ=") => reply(200).body(TAGS),
        _ => reply(401).with("WWW-Authenticate", "Basic realm=\"x\""),
    }
}

#[tokio::test]
async fn passwords_come_from_dockers_configuration() {
    let stub = Stub::start(with_password).await;
    let config = format!(r#"{{"auths":{{"{}":{{"auth":"dXNlcjpzZWNyZXQ="}}}}}}"#, stub.host());
    let (_dir, options) = with_docker_config(&config);
    repository(stub.host(), &options).tags().await.expect("tags");
}

#[tokio::test]
async fn credentials_of_another_host_are_not_used() {
    let stub = Stub::start(with_password).await;
    let (_dir, options) =
        with_docker_config(r#"{"auths":{"registry.example.com":{"auth":"dXNlcjpzZWNyZXQ="}}}"#);
    let error = repository(stub.host(), &options).tags().await.expect_err("no credentials");
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert!(stub.seen().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_is_named() {
    let stub = Stub::start(with_password).await;
    for config in ["{", r#"{"credHelpers":{"HOST":"no-such-helper-anywhere"}}"#] {
        let (dir, options) = with_docker_config(&config.replace("HOST", stub.host()));
        let error = repository(stub.host(), &options).tags().await.expect_err("no credentials");
        assert!(matches!(error, Error::Credentials { .. }), "{error}");
        assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}");
    }
}

#[tokio::test]
async fn asking_ends_when_nothing_helps() {
    let stub = Stub::start(|_, _| reply(401).with("WWW-Authenticate", "Basic realm=\"x\"")).await;
    let error = repository(stub.host(), &with_credentials("user:secret"))
        .tags()
        .await
        .expect_err("no way in");
    assert!(matches!(error, Error::Unauthorized { .. }) && error.hint().is_some(), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(stub.asked().len(), 2);

    let stub = Stub::start(|_, _| reply(401)).await;
    let error = repository(stub.host(), &with_credentials("user:secret"))
        .tags()
        .await
        .expect_err("no challenge");
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert_eq!(stub.asked().len(), 1);
}

#[tokio::test]
async fn not_every_address_is_a_token_service() {
    for realm in ["file:///etc/hostname", "not a url", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/"]
    {
        let challenge = format!("Bearer realm=\"{realm}\",service=\"x\"");
        let stub = Stub::start(move |_, _| reply(401).with("WWW-Authenticate", &challenge)).await;
        let error = repository(stub.host(), &with_credentials("user:secret"))
            .tags()
            .await
            .expect_err(realm);
        assert!(error.to_string().contains("realm"), "{error}");
    }
}

#[tokio::test]
async fn token_answers_are_not_trusted() {
    for answer in [
        reply(200).body(r#"{"token":"a\r\nX-Evil: 1"}"#),
        reply(200).body(r#"{"token":""}"#),
        reply(200).body("[]"),
        reply(200).body(vec![b' '; 100_000]),
        reply(302).with("Location", "http://127.0.0.1/"),
    ] {
        let script = answer.clone();
        let stub = Stub::start(with_tokens(move |_| script.clone())).await;
        repository(stub.host(), &options()).tags().await.expect_err("no token");
        assert_eq!(stub.asked().len(), 2, "{answer:?}");
        assert!(stub.seen().iter().all(|seen| seen.header("x-evil").is_none()));
    }
}

#[tokio::test]
async fn a_redirected_token_service_does_not_take_the_password_along() {
    let other = Stub::start(|_, _| reply(200).body(r#"{"token":"good"}"#)).await;
    let location = format!("http://{}/token", other.host());
    let stub = Stub::start(with_tokens(move |_| reply(307).with("Location", &location))).await;
    repository(stub.host(), &with_credentials("user:secret")).tags().await.expect_err("a redirect");
    assert!(other.seen().is_empty());
}
