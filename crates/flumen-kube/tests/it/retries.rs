//! Servers that fail now and then.

use std::time::{Duration, Instant};

use flumen_kube::{Client, Cluster as _, DeleteOptions, Error, ListOptions, ObjectName, PatchType};
use flumen_testkit::{Fault, FaultPlan, KubeCluster, KubeProxy};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::support::{FORCED, MANAGER, apply, client, config_map, node, resource, text, through};

const MAPS: usize = 40;

fn names() -> Vec<String> {
    (0..MAPS).map(|number| format!("map-{number}")).collect()
}

async fn apply_all(client: &Client, namespace: &str) -> Result<(), Error> {
    let names = names();
    let applies = names.iter().map(|name| async {
        apply(client, namespace, &config_map(name, "1"), FORCED).await.map(drop)
    });
    stream::iter(applies).buffer_unordered(16).try_collect().await
}

async fn count(client: &Client, namespace: &str) -> usize {
    let maps = resource(client, "v1", "ConfigMap").await;
    let options = ListOptions { namespace: Some(namespace), ..ListOptions::default() };
    client.list(&maps, options).await.expect("a list").items.len()
}

#[tokio::test]
async fn passing_faults_are_not_seen() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    resource(&client, "v1", "ConfigMap").await;
    let mut faults = Fault::ALL.to_vec();
    faults.retain(|fault| !matches!(fault, Fault::TooManyRequests { .. }));
    faults.push(Fault::TooManyRequests { retry_after: 0 });
    let before = client.requests();
    proxy.inject(FaultPlan { seed: 7, percent: 20, faults }, |_| true);
    apply_all(&client, &namespace).await.expect("applied");
    proxy.heal();
    let sent = client.requests() - before;
    assert!(proxy.count(|request| request.fault.is_some()) > 0);
    assert!(sent <= 3 * MAPS as u64, "{sent} requests for {MAPS} objects");
    assert_eq!(count(&client, &namespace).await, MAPS);
}

#[tokio::test]
async fn what_may_have_been_created_is_not_created_again() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    let creates = || proxy.count(|request| request.verb() == "create");
    for fault in [Fault::DropAfter, Fault::Unavailable, Fault::InternalError, Fault::DropBefore] {
        proxy.forget();
        proxy.inject(FaultPlan { seed: 1, percent: 100, faults: vec![fault] }, |request| {
            request.verb() == "create"
        });
        let error = client.create(object, &config_map("a", "1"), MANAGER).await;
        let error = error.expect_err("nobody knows what happened");
        assert!(!error.is_already_exists(), "{error:?}");
        assert_eq!(creates(), 1, "{fault:?}");
        proxy.heal();
    }
    assert_eq!(count(&client, &namespace).await, 1, "one of them was done all the same");

    proxy.forget();
    let plan =
        FaultPlan { seed: 3, percent: 50, faults: vec![Fault::TooManyRequests { retry_after: 0 }] };
    proxy.inject(plan, |request| request.verb() == "create");
    for name in names() {
        let object = ObjectName { name: &name, ..object };
        client.create(object, &config_map(&name, "1"), MANAGER).await.expect("created");
    }
    assert!(creates() > MAPS, "what was certainly not done is done again");
    proxy.heal();
}

#[tokio::test]
async fn changes_of_one_revision_are_sent_again() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    apply(&client, &namespace, &config_map("a", "1"), FORCED).await.expect("applied");
    proxy.inject(FaultPlan { seed: 5, percent: 20, faults: vec![Fault::Unavailable] }, |_| true);
    for number in 0..MAPS {
        let live = client.get(object).await.expect("an answer").expect("an object");
        let version = text(&live, &["metadata", "resourceVersion"]);
        let change = node(&format!(
            "[{{op: replace, path: /data/key, value: 'v{number}'}},
              {{op: replace, path: /metadata/resourceVersion, value: '{version}'}}]"
        ));
        client.patch(object, PatchType::Json, &change, MANAGER).await.expect("patched");
    }
    assert!(proxy.count(|request| request.verb() == "patch" && request.fault.is_some()) > 0);
}

#[tokio::test]
async fn what_a_lost_answer_deleted_counts_as_deleted() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    apply_all(&client, &namespace).await.expect("applied");
    let plan = FaultPlan { seed: 5, percent: 20, faults: vec![Fault::DropAfter] };
    proxy.inject(plan, |request| request.verb() == "delete");
    for name in names() {
        let object = ObjectName { resource: &maps, namespace: &namespace, name: &name };
        assert!(client.delete(object, DeleteOptions::default()).await.expect("deleted"), "{name}");
    }
    assert!(proxy.count(|request| request.fault.is_some()) > 0);
    proxy.heal();
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "map-0" };
    assert!(!client.delete(object, DeleteOptions::default()).await.expect("an answer"));
}

#[tokio::test]
async fn a_deadline_ends_all_tries() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (client, namespace) = (through(&proxy).await, cluster.fresh_namespace());
    resource(&client, "v1", "ConfigMap").await;
    proxy.inject(FaultPlan { seed: 1, percent: 100, faults: vec![Fault::Unavailable] }, |_| true);
    let soon = Instant::now() + Duration::from_millis(300);
    let error = apply(&client.with_deadline(soon), &namespace, &config_map("a", "1"), FORCED).await;
    let error = error.expect_err("it never works");
    let is_timeout = matches!(error, Error::TimedOut { .. });
    assert!(is_timeout || error.status().is_some_and(|status| status.code == 503), "{error:?}");
    proxy.heal();
    let past = Instant::now();
    let error = apply(&client.with_deadline(past), &namespace, &config_map("b", "1"), FORCED).await;
    assert!(matches!(error, Err(Error::Deadline { .. } | Error::TimedOut { .. })), "{error:?}");
    apply(&client, &namespace, &config_map("b", "1"), FORCED).await.expect("others have time");
}

#[tokio::test]
async fn a_restart_of_the_server_is_outlasted() {
    let Some(cluster) = KubeCluster::start() else { return };
    let (client, namespace) = (client(&cluster).await, cluster.fresh_namespace());
    apply_all(&client, &namespace).await.expect("applied");
    let mut restart = tokio::task::spawn_blocking(move || {
        cluster.restart_apiserver();
        cluster
    });
    let cluster = loop {
        tokio::select! {
            biased;
            cluster = &mut restart => break cluster,
            applied = apply_all(&client, &namespace) => applied.expect("applied meanwhile"),
        }
    };
    apply_all(&client, &namespace).await.expect("applied afterwards");
    assert_eq!(count(&client, &namespace).await, MAPS);
    drop(cluster);
}
