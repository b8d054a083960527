//! Manifests and what refers to them.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::client::{Fixture, INDEX, MANIFEST, assert_refused, header, image, json_of, sha256};

#[tokio::test]
async fn a_manifest_needs_its_content() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let elsewhere = registry.push_blob("b", b"layer").await;
    let manifest = image((&config, 2), &[(&elsewhere, 5)]);
    let refused = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_refused(refused, 404, "MANIFEST_BLOB_UNKNOWN").await;
    assert_eq!(registry.head("/v2/a/manifests/v1").await.status(), StatusCode::NOT_FOUND);

    let mount = format!("/v2/a/blobs/uploads/?mount={elsewhere}&from=b");
    assert_eq!(registry.post(&mount, "").await.status(), StatusCode::CREATED);
    let pushed = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_eq!(pushed.status(), StatusCode::CREATED);

    let child = sha256(manifest.to_string().as_bytes());
    let index = |digest: &str| {
        json!({"schemaVersion": 2, "mediaType": INDEX,
               "manifests": [{"mediaType": MANIFEST, "digest": digest, "size": 1}]})
    };
    let refused = registry.put_manifest("a", "all", INDEX, &index(&sha256(b"none"))).await;
    assert_refused(refused, 404, "MANIFEST_BLOB_UNKNOWN").await;
    let pushed = registry.put_manifest("a", "all", INDEX, &index(&child)).await;
    assert_eq!(pushed.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn layers_that_live_elsewhere_and_subjects_may_be_missing() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let mut manifest = image((&config, 2), &[(&sha256(b"elsewhere"), 5)]);
    manifest["layers"][0]["mediaType"] =
        json!("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip");
    let subject = sha256(b"later");
    manifest["subject"] = json!({"mediaType": MANIFEST, "digest": subject, "size": 5});
    let pushed = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_eq!(pushed.status(), StatusCode::CREATED);
    assert_eq!(header(&pushed, "oci-subject"), subject);
}

#[tokio::test]
async fn any_kind_of_manifest_keeps_its_bytes_and_its_type() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let types = [
        MANIFEST,
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.example.thing+json",
    ];
    for media_type in types {
        let mut manifest = image((&config, 2), &[]);
        manifest["mediaType"] = json!(media_type);
        // Nobody would write it like this, so a registry that writes it again is found out.
        let content = format!("\n {manifest}\n\n");
        let put = registry.request(Method::PUT, "/v2/a/manifests/x").body(content.clone());
        let put = put.header("content-type", format!("{media_type}; charset=utf-8"));
        let answer = put.send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::CREATED, "{media_type}");
        let digest = sha256(content.as_bytes());
        assert_eq!(header(&answer, "location"), format!("/v2/a/manifests/{digest}"));
        for reference in ["x", &digest] {
            let path = format!("/v2/a/manifests/{reference}");
            let head = registry.head(&path).await;
            assert_eq!(header(&head, "content-length"), content.len().to_string());
            let got = registry.get(&path).await;
            assert_eq!(header(&got, "content-type"), media_type);
            assert_eq!(header(&got, "docker-content-digest"), digest);
            assert_eq!(got.text().await.expect("a body"), content);
        }
    }
}

#[tokio::test]
async fn manifests_that_can_be_read_in_two_ways_are_refused() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let good = image((&config, 2), &[]);
    let put = async |media_type: &str, manifest: &serde_json::Value| {
        registry.put_manifest("a", "v1", media_type, manifest).await
    };
    assert_refused(put(INDEX, &good).await, 400, "MANIFEST_INVALID").await;
    let mut both = good.clone();
    both["manifests"] = json!([]);
    assert_refused(put(MANIFEST, &both).await, 400, "MANIFEST_INVALID").await;
    let old = json!({"schemaVersion": 1, "fsLayers": []});
    assert_refused(put(MANIFEST, &old).await, 400, "MANIFEST_INVALID").await;
    let mut odd = good.clone();
    odd["config"]["digest"] = json!("sha256:../../etc");
    assert_refused(put(MANIFEST, &odd).await, 400, "MANIFEST_INVALID").await;
    assert_refused(put(MANIFEST, &json!([1])).await, 400, "MANIFEST_INVALID").await;

    let path = format!("/v2/a/manifests/{}", sha256(b"other"));
    let wrong = registry.request(Method::PUT, &path).body(good.to_string()).send().await;
    assert_refused(wrong.expect("an answer"), 400, "DIGEST_INVALID").await;
}

#[tokio::test]
async fn deletion_of_a_tag_leaves_the_manifest_and_not_the_other_way_round() {
    let registry = Fixture::start().await;
    let digest = registry.push("a", "one", b"layer").await;
    registry.push("a", "two", b"layer").await;
    let by_digest = format!("/v2/a/manifests/{digest}");

    assert_eq!(registry.delete("/v2/a/manifests/one").await.status(), StatusCode::ACCEPTED);
    assert_refused(registry.get("/v2/a/manifests/one").await, 404, "MANIFEST_UNKNOWN").await;
    assert_eq!(registry.get(&by_digest).await.status(), StatusCode::OK);
    assert_eq!(registry.get("/v2/a/manifests/two").await.status(), StatusCode::OK);

    assert_eq!(registry.delete(&by_digest).await.status(), StatusCode::ACCEPTED);
    assert_refused(registry.get("/v2/a/manifests/two").await, 404, "MANIFEST_UNKNOWN").await;
    assert_refused(registry.delete(&by_digest).await, 404, "MANIFEST_UNKNOWN").await;
}

#[tokio::test]
async fn referrers_are_listed_by_type() {
    let registry = Fixture::start().await;
    let subject = registry.push("a", "v1", b"layer").await;
    let mut signature = image((&sha256(b"{}"), 2), &[]);
    signature["subject"] = json!({"mediaType": MANIFEST, "digest": subject, "size": 1});
    signature["artifactType"] = json!("application/x.signature");
    signature["annotations"] = json!({"who": "me"});
    let pushed = registry.put_manifest("a", "sig", MANIFEST, &signature).await;
    assert_eq!(header(&pushed, "oci-subject"), subject);
    // Without a type of its own, that of the configuration counts.
    let mut note = signature.clone();
    note.as_object_mut().expect("an object").remove("artifactType");
    registry.put_manifest("a", "note", MANIFEST, &note).await;

    let path = format!("/v2/a/referrers/{subject}");
    let all = registry.get(&path).await;
    assert_eq!(header(&all, "content-type"), INDEX);
    assert!(all.headers().get("oci-filters-applied").is_none());
    let all = json_of(all).await;
    assert_eq!(all["manifests"].as_array().map(Vec::len), Some(2), "{all}");

    let one = registry.get(&format!("{path}?artifactType=application%2Fx.signature")).await;
    assert_eq!(header(&one, "oci-filters-applied"), "artifactType");
    let content = signature.to_string();
    let digest = sha256(content.as_bytes());
    let expected = json!([{
        "mediaType": MANIFEST, "digest": digest, "size": content.len(),
        "artifactType": "application/x.signature", "annotations": {"who": "me"},
    }]);
    assert_eq!(json_of(one).await["manifests"], expected);

    let config_type = "application%2Fvnd.oci.image.config.v1%2Bjson";
    let other = json_of(registry.get(&format!("{path}?artifactType={config_type}")).await).await;
    assert_eq!(other["manifests"][0]["digest"], sha256(note.to_string().as_bytes()));

    let gone = registry.delete(&format!("/v2/a/manifests/{digest}")).await;
    assert_eq!(gone.status(), StatusCode::ACCEPTED);
    let left = json_of(registry.get(&path).await).await;
    assert_eq!(left["manifests"].as_array().map(Vec::len), Some(1), "{left}");
    let nobody = registry.get(&format!("/v2/none/referrers/{subject}")).await;
    assert_eq!(json_of(nobody).await["manifests"], json!([]));
}
