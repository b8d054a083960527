//! Watchers of the crate `kube`, which controllers in Rust are made of.

use futures_util::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config, ResourceExt as _,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{
        WatchStreamExt as _,
        watcher::{Config as Watch, Event, watcher},
    },
};

use crate::lasting::{Lasting, NAMESPACE, change, create, delete};

async fn connect(server: &Lasting) -> Client {
    let file = Kubeconfig::from_yaml(&server.kubeconfig()).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(file, &options).await.expect("a configuration");
    Client::try_from(config).expect("a client")
}

/// What a watcher says next, in words. It gets over failures by itself.
async fn next<E>(events: &mut (impl Stream<Item = Result<Event<ConfigMap>, E>> + Unpin)) -> String {
    loop {
        let words = match events.next().await.expect("a watcher never ends") {
            Ok(Event::Init) => "begin".to_owned(),
            Ok(Event::InitApply(map)) => format!("present {}", map.name_any()),
            Ok(Event::InitDone) => "end".to_owned(),
            Ok(Event::Apply(map)) => {
                let value = map.data.as_ref().and_then(|data| data.get("value"));
                format!("apply {} {}", map.name_any(), value.map_or("", |value| value))
            }
            Ok(Event::Delete(map)) => format!("delete {}", map.name_any()),
            Err(_) => continue,
        };
        return words;
    }
}

async fn check(watch: Watch) {
    let mut server = Lasting::start().await;
    create(&server.client(), "first").await;
    let maps: Api<ConfigMap> = Api::namespaced(connect(&server).await, NAMESPACE);
    let mut events = std::pin::pin!(watcher(maps, watch).default_backoff());
    for expected in ["begin", "present first", "end"] {
        assert_eq!(next(&mut events).await, expected);
    }
    for number in 0..100 {
        let (client, name) = (server.client(), format!("c-{number}"));
        create(&client, &name).await;
        change(&client, &name).await;
        delete(&client, &name).await;
        assert_eq!(next(&mut events).await, format!("apply {name} 1"));
        assert_eq!(next(&mut events).await, format!("apply {name} 2"));
        assert_eq!(next(&mut events).await, format!("delete {name}"));
    }

    server.stop().await;
    server.come_back(flumen_apiserver::ApiOptions::default()).await;
    create(&server.client(), "after").await;
    assert_eq!(next(&mut events).await, "apply after 1");

    server.change_unseen(async |client| delete(client, "after").await).await;
    for expected in ["begin", "present first", "end"] {
        assert_eq!(next(&mut events).await, expected);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_and_a_watch() {
    check(Watch::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_begins_with_a_list() {
    check(Watch::default().streaming_lists()).await;
}
