//! Registries that never end, never begin, or say what makes no sense.

use flumen_oci::{Digest, Error, RawManifest, Target, media_type};

use super::{impatient, options, repository};
use crate::stub::{Reply, Stub, reply};

fn v1() -> Target {
    Target::Tag("v1".to_owned())
}

async fn manifest_error(answer: Reply) -> Error {
    let options = if matches!(answer, Reply::Silence(_)) { impatient() } else { options() };
    let stub = Stub::start(move |_, _| answer.clone()).await;
    repository(stub.host(), &options).manifest(&v1()).await.expect_err("no manifest")
}

fn typed(body: impl AsRef<[u8]>) -> Reply {
    reply(200).with("Content-Type", media_type::OCI_MANIFEST).body(body)
}

#[tokio::test]
async fn silence_has_an_end() {
    for silence in
        [&b""[..], b"HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 200 x\r\nCon"]
    {
        let error = manifest_error(Reply::Silence(silence.to_vec())).await;
        assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    }
}

#[tokio::test]
async fn manifests_have_a_limit() {
    let announced = typed("").with("Content-Length", "9223372036854775807");
    assert!(matches!(manifest_error(announced).await, Error::TooLarge { .. }));
    let error = manifest_error(typed(vec![b' '; 5 << 20])).await;
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn headers_have_a_limit() {
    let endless = format!("HTTP/1.1 200 x\r\n{}", "X-Pad: aaaaaaaaaaaaaaaa\r\n".repeat(100_000));
    let error = manifest_error(Reply::Bytes(endless.into_bytes())).await;
    assert!(matches!(error, Error::NotARegistry { .. }), "{error}");
}

#[tokio::test]
async fn what_is_not_http_is_no_answer() {
    let error = manifest_error(Reply::Bytes(b"\0\x01 not http\r\n\r\n".to_vec())).await;
    assert!(matches!(error, Error::NotARegistry { .. }), "{error}");
}

#[tokio::test]
async fn a_web_page_is_no_registry() {
    for status in [200, 404] {
        let page = reply(status).with("Content-Type", "text/html; charset=utf-8").body("<html>");
        let error = manifest_error(page).await;
        assert!(matches!(error, Error::NotARegistry { .. }), "{error}");
    }
}

#[tokio::test]
async fn header_and_content_have_to_agree() {
    let index =
        format!(r#"{{"schemaVersion":2,"mediaType":"{}","manifests":[]}}"#, media_type::OCI_INDEX);
    let error = manifest_error(typed(&index)).await;
    assert!(error.to_string().contains("media type mismatch"), "{error}");
    let error =
        manifest_error(typed("{}").with("Docker-Content-Digest", &Digest::of(b"x").to_string()))
            .await;
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
    let error = manifest_error(reply(200).with("Content-Type", "image/png").body("{}")).await;
    assert!(error.to_string().contains("image/png"), "{error}");
}

#[tokio::test]
async fn a_manifest_says_what_it_is_if_the_header_does_not() {
    let body = format!(r#"{{"schemaVersion":2,"mediaType":"{}"}}"#, media_type::OCI_INDEX);
    let expected = RawManifest::new(media_type::OCI_INDEX, body.clone());
    let stub =
        Stub::start(move |_, _| reply(200).with("Content-Type", "application/json").body(&body))
            .await;
    let repository = repository(stub.host(), &options());
    assert_eq!(repository.manifest(&v1()).await.expect("a manifest"), expected);
    assert_eq!(repository.resolve(&v1()).await.expect("a manifest"), expected.descriptor);
}

#[tokio::test]
async fn another_manifest_than_was_asked_for_is_refused() {
    let stub = Stub::start(|_, _| typed("{}")).await;
    let asked = Target::Digest(Digest::of(b"something else"));
    let repository = repository(stub.host(), &options());
    for error in [
        repository.manifest(&asked).await.expect_err("another one"),
        repository.resolve(&asked).await.expect_err("another one"),
    ] {
        assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
    }
}

#[tokio::test]
async fn words_of_the_registry_are_short_and_harmless() {
    let body = format!(
        r#"{{"errors":[{{"code":"DENIED","message":"no\u001b[2J {}"}}]}}"#,
        "long ".repeat(900)
    );
    let error = manifest_error(reply(403).body(body)).await;
    let text = error.to_string();
    assert!(matches!(error, Error::Forbidden { .. }), "{text}");
    assert!(text.len() < 500 && text.chars().all(|c| !c.is_control()), "{text:?}");
    // More than is read of an error.
    let error = manifest_error(reply(403).body(vec![b'x'; 1 << 20])).await;
    assert!(error.to_string().len() < 500);
}

#[tokio::test]
async fn names_that_are_none_never_reach_the_registry() {
    let stub = Stub::start(|_, _| reply(200)).await;
    let repository = repository(stub.host(), &options());
    for tag in ["../../x", "", "a/b", "a?b", "-a"] {
        let error = repository.manifest(&Target::Tag(tag.to_owned())).await.expect_err(tag);
        assert!(matches!(error, Error::InvalidReference { .. }), "{error}");
    }
    assert!(stub.asked().is_empty());
}

#[tokio::test]
async fn pages_are_followed_to_their_end() {
    let stub = Stub::start(|seen, _| match seen.path.as_str() {
        "/v2/org/app/tags/list?n=1000" => reply(200)
            .with("Link", "</v2/org/app/tags/list?last=b>; rel=\"next\"")
            .body(r#"{"tags":["c","b"]}"#),
        _ => reply(200).body(r#"{"tags":["a","b","../x"]}"#),
    })
    .await;
    let tags = repository(stub.host(), &options()).tags().await.expect("two pages");
    assert_eq!(tags, ["a", "b", "c"]);
}

#[tokio::test]
async fn pages_neither_loop_nor_leave_the_host() {
    for next in ["/v2/org/app/tags/list?n=1000", "http://127.0.0.2/tags", "file:///etc/passwd"] {
        let link = format!("<{next}>; rel=\"next\"");
        let stub =
            Stub::start(move |_, _| reply(200).with("Link", &link).body(r#"{"tags":[]}"#)).await;
        let error = repository(stub.host(), &options()).tags().await.expect_err(next);
        assert!(matches!(error, Error::Protocol { .. }), "{error}");
        assert!(stub.asked().len() <= 2, "{next}");
    }
}

#[tokio::test]
async fn an_empty_list_may_be_null() {
    let stub = Stub::start(|_, _| reply(200).body(r#"{"name":"a","tags":null}"#)).await;
    assert!(repository(stub.host(), &options()).tags().await.expect("none").is_empty());
}
