//! Registries that fail and recover.

use flumen_oci::{Error, Target};

use super::{options, repository};
use crate::stub::{Reply, Stub, reply};

const TAGS: &str = r#"{"name":"org/app","tags":["v1"]}"#;

#[tokio::test]
async fn failures_that_pass_are_not_noticed() {
    for first in [
        reply(500),
        reply(502),
        reply(503).with("Retry-After", "0"),
        reply(429).with("Retry-After", "1"),
        Reply::Bytes(Vec::new()),
        Reply::Bytes(b"HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\n{".to_vec()),
    ] {
        let script = first.clone();
        let stub = Stub::start(
            move |_, before| {
                if before == 0 { script.clone() } else { reply(200).body(TAGS) }
            },
        )
        .await;
        let tags = repository(stub.host(), &options()).tags().await;
        assert_eq!(tags.expect("the second answer"), ["v1"], "{first:?}");
        assert_eq!(stub.asked().len(), 2, "{first:?}");
    }
}

#[tokio::test]
async fn tries_end() {
    let body = r#"{"errors":[{"code":"UNKNOWN","message":"disk on fire"}]}"#;
    let stub = Stub::start(move |_, _| reply(500).body(body)).await;
    let error = repository(stub.host(), &options()).tags().await.expect_err("only failures");
    assert!(error.is_transient());
    assert!(error.to_string().contains("500") && error.to_string().contains("disk on fire"));
    assert!(error.hint().is_some());
    assert_eq!(stub.asked().len(), 4);
}

#[tokio::test]
async fn nobody_waits_for_an_hour() {
    let stub = Stub::start(|_, _| reply(429).with("Retry-After", "3600")).await;
    let error = repository(stub.host(), &options()).tags().await.expect_err("a limit");
    assert!(matches!(error, Error::RateLimited { .. }), "{error}");
    assert_eq!(stub.asked().len(), 1);
}

#[tokio::test]
async fn what_is_refused_for_good_is_asked_once() {
    for status in [400, 403, 404, 405] {
        let stub = Stub::start(move |_, _| reply(status)).await;
        repository(stub.host(), &options()).tags().await.expect_err("refused");
        assert_eq!(stub.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_deletion_is_never_sent_twice_because_the_answer_was_lost() {
    let stub = Stub::start(|_, _| Reply::Bytes(Vec::new())).await;
    let target = Target::Tag("v1".to_owned());
    let error = repository(stub.host(), &options()).delete(&target).await.expect_err("no answer");
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert_eq!(stub.asked(), ["DELETE /v2/org/app/manifests/v1"]);
}
