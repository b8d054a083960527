//! Blobs and uploads.

use reqwest::{Method, StatusCode};

use crate::client::{Fixture, assert_code, header, refusal, sha256};

#[tokio::test]
async fn an_artifact_comes_back_as_it_was_pushed() {
    let registry = Fixture::start().await;
    let layer = vec![7; 3 << 20];
    let digest = registry.push("org/app", "v1", &layer).await;

    let manifest = registry.get("/v2/org/app/manifests/v1").await;
    assert_eq!(manifest.status(), StatusCode::OK);
    assert_eq!(header(&manifest, "docker-content-digest"), digest);
    assert_eq!(sha256(&manifest.bytes().await.expect("a body")), digest);

    let blob = registry.get(&format!("/v2/org/app/blobs/{}", sha256(&layer))).await;
    assert_eq!(header(&blob, "content-length"), layer.len().to_string());
    assert!(blob.bytes().await.expect("a body") == layer);
}

#[tokio::test]
async fn chunks_must_follow_each_other() {
    let registry = Fixture::start().await;
    let begun = registry.post("/v2/a/blobs/uploads/", "").await;
    assert_eq!(begun.status(), StatusCode::ACCEPTED);
    let location = header(&begun, "location");

    let patch = |range: &'static str, body: &'static str| {
        let request = registry.request(Method::PATCH, &location).header("content-range", range);
        async move { request.body(body).send().await.expect("an answer") }
    };
    let first = patch("0-4", "hello").await;
    assert_eq!(first.status(), StatusCode::ACCEPTED);
    assert_eq!(header(&first, "range"), "0-4");

    let gap = patch("6-9", "ther").await;
    assert_eq!(header(&gap, "range"), "0-4");
    let (status, body) = refusal(gap).await;
    assert_code(status, &body, (416, "BLOB_UPLOAD_INVALID"));
    assert_eq!(patch("0-4", "hello").await.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(patch("5-99", "hello").await.status(), StatusCode::BAD_REQUEST);

    let status = registry.get(&location).await;
    assert_eq!(status.status(), StatusCode::NO_CONTENT);
    assert_eq!(header(&status, "range"), "0-4");

    assert_eq!(patch("5-10", " world").await.status(), StatusCode::ACCEPTED);
    let digest = sha256(b"hello world!");
    let finish = registry.request(Method::PUT, &format!("{location}?digest={digest}")).body("!");
    let finished = finish.send().await.expect("an answer");
    assert_eq!(finished.status(), StatusCode::CREATED);
    let blob = registry.get(&header(&finished, "location")).await;
    assert_eq!(blob.text().await.expect("a body"), "hello world!");
    assert_eq!(registry.get(&location).await.status(), StatusCode::NOT_FOUND);
}
