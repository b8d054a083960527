//! Tags, the catalog, and lists that come in parts.

use serde_json::json;

use crate::client::{Fixture, MANIFEST, assert_refused, header, image, json_of, sha256};

/// Follows the links of a list from `path` and returns the entries of each part.
async fn parts(registry: &Fixture, path: &str, field: &str) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let answer = registry.get(&path).await;
        next = answer.headers().contains_key("link").then(|| {
            let link = header(&answer, "link");
            let (target, relation) = link[1..].split_once('>').expect("a link");
            assert_eq!(relation, "; rel=\"next\"");
            target.to_owned()
        });
        let body = json_of(answer).await;
        let names = body[field].as_array().expect("a list").iter();
        parts.push(names.map(|name| name.as_str().expect("a name").to_owned()).collect());
    }
    parts
}

#[tokio::test]
async fn tags_are_listed_in_parts_and_in_order() {
    let registry = Fixture::start().await;
    for tag in ["c", "a", "b", "B"] {
        registry.push("a", tag, tag.as_bytes()).await;
    }
    registry.push("a/deeper", "x", b"x").await;
    let list = "/v2/a/tags/list";
    assert_eq!(parts(&registry, list, "tags").await, [["B", "a", "b", "c"]]);
    assert_eq!(parts(&registry, &format!("{list}?n=2"), "tags").await, [["B", "a"], ["b", "c"]]);
    assert_eq!(parts(&registry, &format!("{list}?n=3&last=a"), "tags").await, [["b", "c"]]);
    assert_eq!(parts(&registry, &format!("{list}?last=aa"), "tags").await, [["b", "c"]]);
    let none = registry.get(&format!("{list}?n=0")).await;
    assert!(!none.headers().contains_key("link"));
    assert_eq!(json_of(none).await, json!({"name": "a", "tags": []}));
    for wrong in ["x", "-1"] {
        let answer = registry.get(&format!("{list}?n={wrong}")).await;
        assert_refused(answer, 400, "PAGINATION_NUMBER_INVALID").await;
    }
    assert_refused(registry.get("/v2/none/tags/list").await, 404, "NAME_UNKNOWN").await;
}

#[tokio::test]
async fn the_catalog_lists_repositories_that_hold_something() {
    let registry = Fixture::start().await;
    for repository in ["b/c", "a", "b", "a-b"] {
        registry.push(repository, "one", b"1").await;
        registry.push(repository, "two", b"2").await;
    }
    registry.push_blob("only-a-blob", b"x").await;
    let all = parts(&registry, "/v2/_catalog", "repositories").await;
    assert_eq!(all, [["a", "a-b", "b", "b/c"]]);
    let some = parts(&registry, "/v2/_catalog?n=3", "repositories").await;
    assert_eq!(some, [vec!["a", "a-b", "b"], vec!["b/c"]]);
    let rest = parts(&registry, "/v2/_catalog?last=a", "repositories").await;
    assert_eq!(rest, [["a-b", "b", "b/c"]]);
}

#[tokio::test]
async fn long_lists_of_referrers_come_in_parts() {
    let registry = Fixture::start().await;
    let subject = registry.push("a", "v1", b"layer").await;
    let mut expected = Vec::new();
    for number in 0..5 {
        let mut manifest = image((&sha256(b"{}"), 2), &[]);
        manifest["subject"] = json!({"mediaType": MANIFEST, "digest": subject, "size": 1});
        manifest["annotations"] =
            json!({"large": "x".repeat(1 << 20), "number": number.to_string()});
        let pushed = registry.put_manifest("a", "sig", MANIFEST, &manifest).await;
        expected.push(header(&pushed, "docker-content-digest"));
    }
    expected.sort();
    let mut found = Vec::new();
    let mut requests = 0;
    let mut next = Some(format!("/v2/a/referrers/{subject}"));
    while let Some(path) = next {
        requests += 1;
        let answer = registry.get(&path).await;
        next = answer
            .headers()
            .contains_key("link")
            .then(|| header(&answer, "link")[1..].split_once('>').expect("a link").0.to_owned());
        let body = json_of(answer).await;
        let digests = body["manifests"].as_array().expect("a list").iter();
        found.extend(digests.map(|entry| entry["digest"].as_str().expect("one").to_owned()));
    }
    assert_eq!(found, expected);
    assert!(requests > 1, "the list is longer than clients read at once");
}
