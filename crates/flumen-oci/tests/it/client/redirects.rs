//! Registries that send us elsewhere.

use flumen_oci::{Descriptor, Error};

use super::{options, repository};
use crate::stub::{Stub, reply};

const CONTENT: &[u8] = b"content";

fn descriptor() -> Descriptor {
    Descriptor::of("text/plain", CONTENT)
}

#[tokio::test]
async fn content_may_come_from_another_host_that_learns_nothing() {
    let storage = Stub::start(|_, _| reply(200).body(CONTENT)).await;
    let location = format!("http://{}/storage?signature=x", storage.host());
    let stub = Stub::start(move |seen, _| match seen.header("authorization") {
        Some(_) => reply(307).with("Location", &location),
        None => reply(401).with("WWW-Authenticate", "Basic realm=\"x\""),
    })
    .await;
    let mut options = options();
    options.credentials = "user:secret".parse().ok();
    let repository = repository(stub.host(), &options);
    let content = repository.blob(&descriptor()).await.expect("a redirect").collect().await;
    assert_eq!(content.expect("the content"), CONTENT);
    assert_eq!(storage.asked(), ["GET /storage?signature=x"]);
    assert!(storage.seen().iter().all(|seen| seen.header("authorization").is_none()));
    // What is known by now is shown at once.
    repository.blob(&descriptor()).await.expect("a redirect");
    assert_eq!(stub.seen().len(), 3);
}

#[tokio::test]
async fn redirects_that_lead_nowhere_are_refused() {
    for location in
        ["file:///etc/passwd", "http://[::1:%zz/", "ftp://example.com/", "http://u:p@127.0.0.1/"]
    {
        let stub = Stub::start(move |_, _| reply(307).with("Location", location)).await;
        let error =
            repository(stub.host(), &options()).blob(&descriptor()).await.expect_err(location);
        assert!(error.to_string().contains("redirect"), "{error}");
        assert_eq!(stub.asked().len(), 1);
    }
    let stub = Stub::start(|_, _| reply(307)).await;
    let error = repository(stub.host(), &options()).blob(&descriptor()).await.expect_err("nowhere");
    assert!(matches!(error, Error::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn redirects_have_an_end() {
    let stub = Stub::start(|seen, _| reply(307).with("Location", &seen.path)).await;
    let error = repository(stub.host(), &options()).blob(&descriptor()).await.expect_err("a loop");
    assert!(error.to_string().contains("too many redirects"), "{error}");
    assert_eq!(stub.asked().len(), 6);
}
