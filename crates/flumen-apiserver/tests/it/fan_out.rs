//! Many watchers over HTTP: each sees every change, in order.

use reqwest::Client;
use serde_json::json;

use crate::fixture::{Fixture, Watcher};

const WATCHERS: usize = 100;
const CHANGES: usize = 1000;
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The text of a field: events are many, and most of them is of no interest here.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!("\"{name}\":\"")).expect("the field is there");
    rest.split('"').next().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_misses_anything() {
    let server = Fixture::start().await;
    let version = server.get(MAPS).await.json()["metadata"]["resourceVersion"].clone();
    let version = version.as_str().expect("lists have a version");
    let url = format!("{}{MAPS}?watch=true&resourceVersion={version}", server.url());
    let client = Client::builder().no_proxy().build().expect("a client");
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        watchers.push(Watcher::start(&client, &url).await);
    }
    let readers: Vec<_> = watchers
        .into_iter()
        .map(|mut watcher| {
            tokio::spawn(async move {
                let mut last = 0;
                for number in 0..CHANGES {
                    let line = watcher.line().await;
                    let kind = if number == 0 { "ADDED" } else { "MODIFIED" };
                    assert_eq!(field(&line, "type"), kind);
                    assert_eq!(field(&line, "number"), number.to_string());
                    let version: u64 = field(&line, "resourceVersion").parse().expect("a number");
                    assert!(version > last, "{version} after {last}");
                    last = version;
                }
            })
        })
        .collect();
    for number in 0..CHANGES {
        let map = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "counter"},
            "data": {"number": number.to_string()},
        });
        let applied = client
            .patch(format!("{}{MAPS}/counter?fieldManager=test", server.url()))
            .bearer_auth("t0ken")
            .header("content-type", "application/apply-patch+yaml")
            .body(map.to_string());
        let status = applied.send().await.expect("the server answers").status();
        assert!(status.is_success(), "{status}");
    }
    for reader in readers {
        reader.await.expect("all changes, in order");
    }
}

/// Whoever does not read what they asked for is in nobody's way.
#[tokio::test(flavor = "multi_thread")]
async fn watches_that_nobody_reads() {
    let server = Fixture::start().await;
    let url = format!("{}{MAPS}?watch=true", server.url());
    let client = Client::builder().no_proxy().build().expect("a client");
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(Watcher::start(&client, &url).await);
    }
    let large = "x".repeat(100_000);
    for number in 0..100 {
        let map = json!({"metadata": {"name": format!("m-{number}")}, "data": {"large": large}});
        assert_eq!(server.create(MAPS, &map).await.status, 201);
    }
    drop(idle);
    assert_eq!(server.get(&format!("{MAPS}/m-99")).await.status, 200);
}
