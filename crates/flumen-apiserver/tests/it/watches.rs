//! Objects as they change.

use flumen_apiserver::{Client, Deletion, Select, WatchEvent, WatchKind};
use futures_util::{StreamExt, stream::BoxStream};
use serde_json::json;

use crate::server::{CONFIG_MAPS, config_map, start};

type Events = BoxStream<'static, WatchEvent>;

async fn next(events: &mut Events) -> (WatchKind, String) {
    let event = events.next().await.expect("the watch goes on");
    (event.kind, event.object["metadata"]["name"].as_str().unwrap_or_default().to_owned())
}

async fn label(client: &Client, tier: &str) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["labels"] = json!({ "tier": tier });
    client.update(CONFIG_MAPS, &object).await.expect("it is there");
}

#[tokio::test]
async fn present_objects_come_first_then_changes() {
    let client = start().await;
    client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await.expect("it is new");
    let select = Select { namespace: "default", ..Select::default() };
    let mut events = client.watch(CONFIG_MAPS, select, None).await.expect("it begins");
    assert_eq!(next(&mut events).await, (WatchKind::Added, "a".to_owned()));
    client.create(CONFIG_MAPS, "default", &config_map("b", json!({}))).await.expect("it is new");
    assert_eq!(next(&mut events).await, (WatchKind::Added, "b".to_owned()));
    client.delete(CONFIG_MAPS, "default", "a", Deletion::default()).await.expect("it goes");
    assert_eq!(next(&mut events).await, (WatchKind::Deleted, "a".to_owned()));
}

#[tokio::test]
async fn objects_enter_and_leave_a_selection() {
    let client = start().await;
    client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await.expect("it is new");
    let select = Select { namespace: "default", labels: "tier=1", ..Select::default() };
    let mut events = client.watch(CONFIG_MAPS, select, None).await.expect("it begins");
    label(&client, "1").await;
    assert_eq!(next(&mut events).await.0, WatchKind::Added);
    label(&client, "2").await;
    assert_eq!(next(&mut events).await.0, WatchKind::Deleted);
}

#[tokio::test]
async fn a_watch_from_a_version_replays_what_happened() {
    let client = start().await;
    let before = client.list(CONFIG_MAPS, Select::default()).await.expect("it lists");
    for name in ["a", "b", "c"] {
        let object = config_map(name, json!({}));
        client.create(CONFIG_MAPS, "default", &object).await.expect("it is new");
    }
    let since = Some(&*before.resource_version);
    let mut events = client.watch(CONFIG_MAPS, Select::default(), since).await.expect("it begins");
    for name in ["a", "b", "c"] {
        assert_eq!(next(&mut events).await, (WatchKind::Added, name.to_owned()));
    }
}

#[tokio::test]
async fn a_watch_from_a_later_version_is_silent_until_then() {
    let client = start().await;
    let before = client.list(CONFIG_MAPS, Select::default()).await.expect("it lists");
    let version: u64 = before.resource_version.parse().expect("a number");
    let since = (version + 2).to_string();
    let watch = client.watch(CONFIG_MAPS, Select::default(), Some(&since));
    let mut events = watch.await.expect("it begins");
    for name in ["a", "b", "c"] {
        let object = config_map(name, json!({}));
        client.create(CONFIG_MAPS, "default", &object).await.expect("it is new");
    }
    assert_eq!(next(&mut events).await, (WatchKind::Added, "c".to_owned()));
}

/// Every watcher sees every change, in order.
#[tokio::test]
async fn many_watchers_miss_nothing() {
    let client = start().await;
    let mut watchers = Vec::new();
    let select = Select { namespace: "default", ..Select::default() };
    for _ in 0..20 {
        let watch = client.watch(CONFIG_MAPS, select, None);
        watchers.push(watch.await.expect("it begins"));
    }
    client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await.expect("it is new");
    for number in 0..200 {
        let object = config_map("a", json!({ "n": number.to_string() }));
        client.update(CONFIG_MAPS, &object).await.expect("it is there");
    }
    for events in &mut watchers {
        assert_eq!(next(events).await.0, WatchKind::Added);
        for number in 0..200 {
            let event = events.next().await.expect("the watch goes on");
            assert_eq!(event.object["data"]["n"], number.to_string());
        }
    }
}
