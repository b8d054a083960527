//! Manifests, tags and referrers.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::client::{Fixture, INDEX, MANIFEST, assert_code, header, image, refusal, sha256};

#[tokio::test]
async fn a_manifest_needs_its_blobs() {
    let registry = Fixture::start().await;
    let config = registry.push_blob("a", b"{}").await;
    let elsewhere = registry.push_blob("b", b"layer").await;
    let manifest = image((&config, 2), &[(&elsewhere, 5)]);
    let (status, body) = refusal(registry.put_manifest("a", "v1", MANIFEST, &manifest).await).await;
    assert_code(status, &body, (404, "MANIFEST_BLOB_UNKNOWN"));
    assert_eq!(registry.head("/v2/a/manifests/v1").await.status(), StatusCode::NOT_FOUND);

    let mount = format!("/v2/a/blobs/uploads/?mount={elsewhere}&from=b");
    assert_eq!(registry.post(&mount, "").await.status(), StatusCode::CREATED);
    let pushed = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_eq!(pushed.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn tags_are_listed_in_parts_and_in_order() {
    let registry = Fixture::start().await;
    for tag in ["c", "a", "b"] {
        registry.push("a", tag, tag.as_bytes()).await;
    }
    let first = registry.get("/v2/a/tags/list?n=2").await;
    let link = header(&first, "link");
    let next = link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("a link").0;
    let body: Value = serde_json::from_str(&first.text().await.expect("a body")).expect("JSON");
    assert_eq!(body, json!({"name": "a", "tags": ["a", "b"]}));
    let second = registry.get(next).await;
    assert!(second.headers().get("link").is_none());
    let body: Value = serde_json::from_str(&second.text().await.expect("a body")).expect("JSON");
    assert_eq!(body["tags"], json!(["c"]));
    let (status, body) = refusal(registry.get("/v2/none/tags/list").await).await;
    assert_code(status, &body, (404, "NAME_UNKNOWN"));
}

#[tokio::test]
async fn referrers_are_listed_by_type() {
    let registry = Fixture::start().await;
    let subject = registry.push("a", "v1", b"layer").await;
    let config = sha256(b"{}");
    let mut signature = image((&config, 2), &[]);
    signature["subject"] = json!({"mediaType": MANIFEST, "digest": subject, "size": 1});
    signature["artifactType"] = json!("application/x.signature");
    signature["annotations"] = json!({"who": "me"});
    let pushed = registry.put_manifest("a", "sig", MANIFEST, &signature).await;
    assert_eq!(header(&pushed, "oci-subject"), subject);

    let path = format!("/v2/a/referrers/{subject}");
    let all = registry.get(&path).await;
    assert_eq!(header(&all, "content-type"), INDEX);
    let all: Value = serde_json::from_str(&all.text().await.expect("a body")).expect("JSON");
    assert_eq!(all["manifests"][0]["annotations"]["who"], "me");
    assert_eq!(all["manifests"][0]["digest"], sha256(signature.to_string().as_bytes()));

    let none = registry.get(&format!("{path}?artifactType=other")).await;
    assert_eq!(header(&none, "oci-filters-applied"), "artifactType");
    let none: Value = serde_json::from_str(&none.text().await.expect("a body")).expect("JSON");
    assert_eq!(none["manifests"], json!([]));

    let gone = registry
        .delete(&format!(
            "/v2/a/manifests/{}",
            all["manifests"][0]["digest"].as_str().expect("one")
        ))
        .await;
    assert_eq!(gone.status(), StatusCode::ACCEPTED);
    assert_eq!(registry.get("/v2/a/manifests/sig").await.status(), StatusCode::NOT_FOUND);
    let after = registry.get(&path).await.text().await.expect("a body");
    assert!(after.contains("\"manifests\":[]"), "{after}");
}
