//! Objects as they change.

use serde_json::json;

use crate::fixture::{Fixture, Watcher};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn watch(server: &Fixture, query: &str) -> Watcher {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    Watcher::start(&client, &format!("{}{MAPS}?watch=true{query}", server.url())).await
}

/// What happened next, and to which object.
async fn next(watcher: &mut Watcher) -> (String, String) {
    let event = watcher.event().await;
    let text = |pointer| event.pointer(pointer).and_then(|text| text.as_str()).unwrap_or_default();
    (text("/type").to_owned(), text("/object/metadata/name").to_owned())
}

fn event(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

async fn create(server: &Fixture, name: &str) {
    assert_eq!(server.create(MAPS, &json!({ "metadata": { "name": name } })).await.status, 201);
}

async fn update(server: &Fixture, object: serde_json::Value) {
    let headers = ["Content-Type: application/json"];
    let reply = server.ask("PUT", &format!("{MAPS}/a"), &headers, &object.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

/// The version that a list shows now.
async fn version(server: &Fixture) -> u64 {
    let list = server.get(MAPS).await.json();
    let version = list["metadata"]["resourceVersion"].as_str().expect("lists have a version");
    version.parse().expect("a number")
}

#[tokio::test]
async fn present_objects_come_first_then_changes() {
    let server = Fixture::start().await;
    create(&server, "a").await;
    let mut watcher = watch(&server, "").await;
    assert_eq!(next(&mut watcher).await, event("ADDED", "a"));
    create(&server, "b").await;
    assert_eq!(next(&mut watcher).await, event("ADDED", "b"));
    assert_eq!(server.ask("DELETE", &format!("{MAPS}/a"), &[], "").await.status, 200);
    assert_eq!(next(&mut watcher).await, event("DELETED", "a"));
}

#[tokio::test]
async fn objects_enter_and_leave_a_selection() {
    let server = Fixture::start().await;
    create(&server, "a").await;
    let mut watcher = watch(&server, "&labelSelector=tier%3D1").await;
    for (tier, kind) in [("1", "ADDED"), ("2", "DELETED")] {
        update(&server, json!({ "metadata": { "name": "a", "labels": { "tier": tier } } })).await;
        assert_eq!(next(&mut watcher).await, event(kind, "a"));
    }
}

#[tokio::test]
async fn a_watch_from_a_version_replays_what_happened() {
    let server = Fixture::start().await;
    let since = version(&server).await;
    for name in ["a", "b", "c"] {
        create(&server, name).await;
    }
    let mut watcher = watch(&server, &format!("&resourceVersion={since}")).await;
    for name in ["a", "b", "c"] {
        assert_eq!(next(&mut watcher).await, event("ADDED", name));
    }
}

#[tokio::test]
async fn a_watch_from_a_later_version_is_silent_until_then() {
    let server = Fixture::start().await;
    let since = version(&server).await + 2;
    let mut watcher = watch(&server, &format!("&resourceVersion={since}")).await;
    for name in ["a", "b", "c"] {
        create(&server, name).await;
    }
    assert_eq!(next(&mut watcher).await, event("ADDED", "c"));
}

/// Every watcher sees every change, in order.
#[tokio::test]
async fn many_watchers_miss_nothing() {
    let server = Fixture::start().await;
    let mut watchers = Vec::new();
    for _ in 0..20 {
        watchers.push(watch(&server, "").await);
    }
    create(&server, "a").await;
    for number in 0..200 {
        let data = json!({ "n": number.to_string() });
        update(&server, json!({ "metadata": { "name": "a" }, "data": data })).await;
    }
    for watcher in &mut watchers {
        assert_eq!(next(watcher).await, event("ADDED", "a"));
        for number in 0..200 {
            assert_eq!(watcher.event().await["object"]["data"]["n"], number.to_string());
        }
    }
}
