//! Blobs and uploads.

use reqwest::{Method, StatusCode};
use sha2::{Digest as _, Sha512};

use crate::client::{Fixture, assert_refused, header, sha256};

#[tokio::test]
async fn an_artifact_comes_back_as_it_was_pushed() {
    let registry = Fixture::start().await;
    let layer = vec![7; 3 << 20];
    let digest = registry.push("org/app", "v1", &layer).await;

    let manifest = registry.get("/v2/org/app/manifests/v1").await;
    assert_eq!(manifest.status(), StatusCode::OK);
    assert_eq!(header(&manifest, "docker-content-digest"), digest);
    assert_eq!(sha256(&manifest.bytes().await.expect("a body")), digest);

    let path = format!("/v2/org/app/blobs/{}", sha256(&layer));
    let head = registry.head(&path).await;
    assert_eq!(header(&head, "content-length"), layer.len().to_string());
    let blob = registry.get(&path).await;
    assert_eq!(header(&blob, "content-length"), layer.len().to_string());
    assert_eq!(header(&blob, "docker-content-digest"), sha256(&layer));
    assert!(blob.bytes().await.expect("a body") == layer);
}

#[tokio::test]
async fn every_answer_names_the_version_of_the_api() {
    let registry = Fixture::start().await;
    for path in ["/v2/", "/v2", "/v2/none/manifests/x", "/elsewhere"] {
        let answer = registry.get(path).await;
        assert_eq!(header(&answer, "docker-distribution-api-version"), "registry/2.0", "{path}");
    }
    assert_eq!(registry.get("/v2/").await.status(), StatusCode::OK);
    assert_refused(registry.get("/elsewhere").await, 404, "UNSUPPORTED").await;
    assert_refused(registry.delete("/v2/").await, 405, "UNSUPPORTED").await;
}

#[tokio::test]
async fn names_are_checked() {
    let registry = Fixture::start().await;
    let digest = sha256(b"");
    for (path, code) in [
        ("/v2/Upper/manifests/v1".to_owned(), "NAME_INVALID"),
        (format!("/v2/a..b/blobs/{digest}"), "NAME_INVALID"),
        (format!("/v2/{}/tags/list", "a/".repeat(200)), "NAME_INVALID"),
        ("/v2/a/manifests/-x".to_owned(), "TAG_INVALID"),
        ("/v2/a/manifests/sha256:00".to_owned(), "DIGEST_INVALID"),
        ("/v2/a/blobs/md5:00".to_owned(), "DIGEST_INVALID"),
    ] {
        assert_refused(registry.get(&path).await, 400, code).await;
    }
    let encoded = format!("/v2/a/blobs/{}", digest.replace(':', "%3A"));
    assert_refused(registry.get(&encoded).await, 404, "BLOB_UNKNOWN").await;
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
    assert_refused(gap, 416, "BLOB_UPLOAD_INVALID").await;
    assert_refused(patch("0-4", "hello").await, 416, "BLOB_UPLOAD_INVALID").await;
    assert_refused(patch("5-99", "hello").await, 400, "SIZE_INVALID").await;
    assert_refused(patch("five-ten", "hello").await, 400, "BLOB_UPLOAD_INVALID").await;

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
    assert_refused(registry.get(&location).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
}

#[tokio::test]
async fn content_that_is_not_what_it_is_called_is_refused() {
    let registry = Fixture::start().await;
    let digest = sha256(b"this");
    let path = format!("/v2/a/blobs/uploads/?digest={digest}");
    assert_refused(registry.post(&path, "that").await, 400, "DIGEST_INVALID").await;

    let location = registry.begin_upload("a").await;
    let finish = registry.request(Method::PUT, &format!("{location}?digest={digest}")).body("that");
    let answer = finish.send().await.expect("an answer");
    assert_refused(answer, 400, "DIGEST_INVALID").await;
    assert_refused(registry.get(&location).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
    assert_refused(registry.get(&format!("/v2/a/blobs/{digest}")).await, 404, "BLOB_UNKNOWN").await;
    assert_eq!(registry.files_of_uploads(), 0);

    let location = registry.begin_upload("a").await;
    let without = registry.request(Method::PUT, &location).body("this").send().await;
    assert_refused(without.expect("an answer"), 400, "DIGEST_INVALID").await;
}

#[tokio::test]
async fn an_upload_belongs_to_its_repository_and_can_be_cancelled() {
    let registry = Fixture::start().await;
    let location = registry.begin_upload("a").await;
    let elsewhere = location.replace("/v2/a/", "/v2/b/");
    assert_refused(registry.get(&elsewhere).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
    assert_refused(registry.delete(&elsewhere).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
    let digest = sha256(b"");
    let stolen =
        registry.request(Method::PUT, &format!("{elsewhere}?digest={digest}")).send().await;
    assert_refused(stolen.expect("an answer"), 404, "BLOB_UPLOAD_UNKNOWN").await;

    assert_eq!(registry.delete(&location).await.status(), StatusCode::NO_CONTENT);
    assert_refused(registry.delete(&location).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
    assert_eq!(registry.files_of_uploads(), 0);
}

#[tokio::test]
async fn the_longer_hash_works_too() {
    let registry = Fixture::start().await;
    let content = vec![3; 700_000];
    let digest = format!("sha512:{:x}", Sha512::digest(&content));
    let location = registry.begin_upload("a").await;
    let finish = registry.request(Method::PUT, &format!("{location}?digest={digest}"));
    let finished = finish.body(content.clone()).send().await.expect("an answer");
    assert_eq!(finished.status(), StatusCode::CREATED);
    let blob = registry.get(&format!("/v2/a/blobs/{digest}")).await;
    assert!(blob.bytes().await.expect("a body") == content);
}

#[tokio::test]
async fn parts_of_a_blob_can_be_asked_for() {
    let registry = Fixture::start().await;
    let content: Vec<u8> = (0..600_000_u32).flat_map(u32::to_le_bytes).collect();
    let path = format!("/v2/a/blobs/{}", registry.push_blob("a", &content).await);
    let get = async |range: &str| {
        let request = registry.request(Method::GET, &path).header("range", range);
        request.send().await.expect("an answer")
    };
    let part = get("bytes=100-1000099").await;
    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(header(&part, "content-range"), format!("bytes 100-1000099/{}", content.len()));
    assert!(part.bytes().await.expect("a body") == content[100..1_000_100]);
    let tail = get("bytes=-5").await;
    assert!(tail.bytes().await.expect("a body") == content[content.len() - 5..]);
    let several = get("bytes=0-1,5-6").await;
    assert_eq!(several.status(), StatusCode::OK);
    let behind = get("bytes=2400000-").await;
    assert_eq!(behind.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(header(&behind, "content-range"), "bytes */2400000");
}

#[tokio::test]
async fn a_repository_sees_only_what_it_was_given() {
    let registry = Fixture::start().await;
    let digest = registry.push_blob("a", b"content").await;
    assert_refused(registry.get(&format!("/v2/b/blobs/{digest}")).await, 404, "BLOB_UNKNOWN").await;

    let from_nowhere = format!("/v2/b/blobs/uploads/?mount={digest}&from=c");
    let answer = registry.post(&from_nowhere, "").await;
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    assert!(header(&answer, "location").contains("/v2/b/blobs/uploads/"));

    let mount = format!("/v2/b/blobs/uploads/?mount={digest}&from=a");
    let mounted = registry.post(&mount, "").await;
    assert_eq!(mounted.status(), StatusCode::CREATED);
    assert_eq!(header(&mounted, "location"), format!("/v2/b/blobs/{digest}"));

    // Each repository lets go on its own.
    assert_eq!(
        registry.delete(&format!("/v2/a/blobs/{digest}")).await.status(),
        StatusCode::ACCEPTED
    );
    assert_refused(registry.get(&format!("/v2/a/blobs/{digest}")).await, 404, "BLOB_UNKNOWN").await;
    let blob = registry.get(&format!("/v2/b/blobs/{digest}")).await;
    assert_eq!(blob.text().await.expect("a body"), "content");
    assert_eq!(registry.files_of_blobs(), 1);
    assert_eq!(
        registry.delete(&format!("/v2/b/blobs/{digest}")).await.status(),
        StatusCode::ACCEPTED
    );
    assert_eq!(registry.files_of_blobs(), 0);
}

#[tokio::test]
async fn a_blob_that_a_manifest_names_stays() {
    let registry = Fixture::start().await;
    let manifest = registry.push("a", "v1", b"layer").await;
    let blob = format!("/v2/a/blobs/{}", sha256(b"layer"));
    assert_refused(registry.delete(&blob).await, 405, "UNSUPPORTED").await;
    let path = format!("/v2/a/manifests/{manifest}");
    assert_eq!(registry.delete(&path).await.status(), StatusCode::ACCEPTED);
    assert_eq!(registry.delete(&blob).await.status(), StatusCode::ACCEPTED);
    assert_refused(registry.delete(&blob).await, 404, "BLOB_UNKNOWN").await;
}
