//! Watches.

use flumen_kube::{
    Cluster as _, DeleteOptions, Error, Event, ListOptions, ObjectName, WatchOptions,
};
use flumen_testkit::KubeCluster;
use futures_util::{Stream, StreamExt as _};

use crate::support::{FORCED, apply, client, config_map, resource, text};

fn shown(event: &Event) -> String {
    let object = |what: &str, node| {
        format!("{what} {} {}", text(node, &["metadata", "name"]), text(node, &["data", "key"]))
    };
    match event {
        Event::Applied(node) => object("applied", node),
        Event::Deleted(node) => object("deleted", node),
        Event::Bookmark { .. } => "bookmark".to_owned(),
    }
}

/// The next event that is about an object.
async fn next(watch: &mut (impl Stream<Item = Result<Event, Error>> + Unpin)) -> Event {
    loop {
        match watch.next().await.expect("more").expect("an event") {
            Event::Bookmark { .. } => {}
            event => return event,
        }
    }
}

#[tokio::test]
async fn changes_arrive_in_their_order() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let list = ListOptions { namespace: Some(&namespace), ..ListOptions::default() };
    apply(&client, &namespace, &config_map("a", "0"), FORCED).await.expect("applied");
    let listed = client.list(&maps, list).await.expect("a list");
    let options = WatchOptions { list, resource_version: &listed.resource_version };
    let mut watch = client.watch(&maps, options).await.expect("a watch");

    apply(&client, &namespace, &config_map("a", "1"), FORCED).await.expect("applied");
    apply(&client, &namespace, &config_map("b", "2"), FORCED).await.expect("applied");
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    client.delete(object, DeleteOptions::default()).await.expect("deleted");
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(shown(&next(&mut watch).await));
    }
    assert_eq!(seen, ["applied a 1", "applied b 2", "deleted a 1"]);
}

#[tokio::test]
async fn many_watches_leave_room_for_requests() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let list = ListOptions { namespace: Some(&namespace), ..ListOptions::default() };
    let options = WatchOptions { list, resource_version: "0" };
    let mut watches = Vec::new();
    // More than requests may run at the same time.
    for _ in 0..40 {
        watches.push(client.watch(&maps, options).await.expect("a watch"));
    }
    apply(&client, &namespace, &config_map("a", "1"), FORCED).await.expect("applied");
    for watch in &mut watches {
        assert_eq!(shown(&next(watch).await), "applied a 1");
    }
}
