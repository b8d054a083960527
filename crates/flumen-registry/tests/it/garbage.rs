//! What nobody needs goes, what somebody may need stays.

use std::{fs, time::Duration};

use reqwest::{Method, StatusCode};

use crate::client::{Fixture, MANIFEST, assert_refused, image, sha256};

#[tokio::test]
async fn unused_blobs_are_collected_when_they_are_old() {
    let registry = Fixture::with(|options| options.limits.garbage_age = Duration::ZERO).await;
    registry.push("a", "v1", b"used").await;
    let unused = registry.push_blob("a", b"unused").await;
    let mount = format!("/v2/b/blobs/uploads/?mount={}&from=a", sha256(b"used"));
    assert_eq!(registry.post(&mount, "").await.status(), StatusCode::CREATED);

    let collected = registry.server.registry().collect_garbage().await.expect("works");
    assert_eq!(collected.blobs, 2, "one that is unused, one that is unused in another repository");
    assert_refused(registry.get(&format!("/v2/a/blobs/{unused}")).await, 404, "BLOB_UNKNOWN").await;
    let used = registry.get(&format!("/v2/a/blobs/{}", sha256(b"used"))).await;
    assert_eq!(used.text().await.expect("a body"), "used");
    assert_eq!(registry.files_of_blobs(), 2, "the layer and the configuration");
}

#[tokio::test]
async fn young_blobs_wait_for_their_manifest() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let collected = registry.server.registry().collect_garbage().await.expect("works");
    assert_eq!(collected.blobs, 0);
    let pushed = registry.put_manifest("a", "v1", MANIFEST, &image((&config, 2), &[])).await;
    assert_eq!(pushed.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn pushes_beside_a_collection_lose_nothing() {
    let registry = Fixture::with(|options| options.limits.garbage_age = Duration::ZERO).await;
    let collect = async {
        for _ in 0..20 {
            registry.server.registry().collect_garbage().await.expect("works");
        }
    };
    // A blob may be collected before its manifest arrives; then the manifest is refused, and the
    // client starts again. What must never happen is a manifest without its blobs.
    let push = async {
        let mut accepted = Vec::new();
        for number in 0..40 {
            let layer = format!("layer {number}");
            let config = registry.push_blob("a", b"{}").await;
            let digest = registry.push_blob("a", layer.as_bytes()).await;
            let manifest = image((&config, 2), &[(&digest, layer.len())]);
            let tag = format!("v{number}");
            let answer = registry.put_manifest("a", &tag, MANIFEST, &manifest).await;
            if answer.status() == StatusCode::CREATED {
                accepted.push(layer);
            } else {
                assert_refused(answer, 404, "MANIFEST_BLOB_UNKNOWN").await;
            }
        }
        accepted
    };
    let ((), accepted) = tokio::join!(collect, push);
    for layer in accepted {
        let blob = registry.get(&format!("/v2/a/blobs/{}", sha256(layer.as_bytes()))).await;
        assert_eq!(blob.text().await.expect("a body"), layer);
    }
}

#[tokio::test]
async fn uploads_that_nobody_continues_expire() {
    let registry = Fixture::with(|options| options.limits.upload_expiry = Duration::ZERO).await;
    let location = registry.begin_upload("a").await;
    registry.server.registry().collect_garbage().await.expect("works");
    assert_refused(registry.get(&location).await, 404, "BLOB_UPLOAD_UNKNOWN").await;
    assert_eq!(registry.files_of_uploads(), 0);
}

#[tokio::test]
async fn a_start_brings_files_and_metadata_into_agreement() {
    let registry = Fixture::start().await;
    registry.push("a", "v1", b"lost").await;
    registry.push("a", "v2", b"kept").await;
    let registry = registry
        .restart(|data| {
            let blobs = data.join("blobs/sha256");
            fs::write(data.join("uploads/left-behind"), "x").expect("writes");
            fs::write(blobs.join(&sha256(b"orphan")[7..]), "orphan").expect("writes");
            fs::remove_file(blobs.join(&sha256(b"lost")[7..])).expect("removes");
        })
        .await;
    assert_eq!(registry.files_of_uploads(), 0);
    assert_eq!(registry.files_of_blobs(), 2, "the layer that was kept and the configuration");
    let lost = format!("/v2/a/blobs/{}", sha256(b"lost"));
    assert_refused(registry.get(&lost).await, 404, "BLOB_UNKNOWN").await;
    registry.push_blob("a", b"lost").await;
    assert_eq!(registry.get(&lost).await.text().await.expect("a body"), "lost");
    let head =
        registry.request(Method::HEAD, "/v2/a/manifests/v1").send().await.expect("an answer");
    assert_eq!(head.status(), StatusCode::OK);
}
