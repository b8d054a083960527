//! Lists, in pages.

use flumen_kube::{Cluster as _, ListOptions};
use flumen_testkit::{KubeCluster, KubeProxy};
use flumen_yaml::Node;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::support::{FORCED, apply, client, config_map, node, resource, text, through};

#[tokio::test]
async fn long_lists_come_in_pages() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let names: Vec<String> = (0..1_010).map(|number| format!("map-{number:04}")).collect();
    let applies = names.iter().map(|name| {
        let (client, namespace) = (&client, &namespace);
        async move { apply(client, namespace, &config_map(name, "1"), FORCED).await.map(drop) }
    });
    stream::iter(applies).buffer_unordered(32).try_collect::<()>().await.expect("applied");

    proxy.forget();
    let before = client.requests();
    let options = ListOptions { namespace: Some(&namespace), ..ListOptions::default() };
    let mut pages = Vec::new();
    let version = client.list_pages(&maps, options, |page| pages.push(page.len())).await;
    assert!(version.expect("a list").parse::<u64>().expect("a revision") > 0);
    assert_eq!(pages, [500, 500, 10]);
    assert_eq!(proxy.count(|request| request.verb() == "list"), 3);
    assert_eq!(client.requests() - before, 3);

    let list = client.list(&maps, options).await.expect("a list");
    let listed: Vec<&str> =
        list.items.iter().map(|item| text(item, &["metadata", "name"])).collect();
    assert_eq!(listed, names);
    let complete =
        |item: &Node| text(item, &["apiVersion"]) == "v1" && text(item, &["kind"]) == "ConfigMap";
    assert!(list.items.iter().all(complete), "items of a list say what they are");
}

#[tokio::test]
async fn selectors_choose_and_namespaces_bound() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    let (here, there) = (cluster.fresh_namespace(), cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    for (namespace, name, label) in [(&here, "a", "x y"), (&here, "b", "z"), (&there, "c", "z")] {
        let label = label.replace(' ', "-");
        let manifest = node(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{of: {here}, l: {label}}}}}}}"
        ));
        apply(&client, namespace, &manifest, FORCED).await.expect("applied");
    }
    let names = async |options: ListOptions<'_>| {
        let list = client.list(&maps, options).await.expect("a list");
        let names = list.items.iter().map(|item| text(item, &["metadata", "name"]).to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    let of_here = format!("of={here}");
    let everywhere = ListOptions { label_selector: Some(&of_here), ..ListOptions::default() };
    assert_eq!(names(everywhere).await, "a b c");
    let inside = ListOptions { namespace: Some(&here), ..everywhere };
    assert_eq!(names(inside).await, "a b");
    let set = format!("l in (x-y, w),of={here}");
    let chosen = ListOptions { label_selector: Some(&set), ..inside };
    assert_eq!(names(chosen).await, "a");
    let field = ListOptions { field_selector: Some("metadata.name=b"), ..inside };
    assert_eq!(names(field).await, "b");
}
