//! Which kinds are served.

use std::{
    env,
    time::{Duration, Instant},
};

use flumen_kube::{Client, Cluster as _, Resource};
use flumen_object::Gvk;
use flumen_testkit::{KubeCluster, KubeProxy, TEST_SERVER_VARIABLE};
use tokio::time::sleep;

use crate::support::{FORCED, apply, client, node, through};

async fn find(client: &Client, api_version: &str, kind: &str) -> Option<Resource> {
    let gvk = Gvk::new(&api_version.into(), kind.into());
    client.resource(&gvk).await.expect("discovery works")
}

#[tokio::test]
async fn two_requests_tell_everything() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let client = through(&proxy).await;
    assert_eq!(client.requests(), 0, "nothing is asked before it is needed");
    let pods = find(&client, "v1", "Pod").await.expect("pods");
    assert_eq!((&*pods.plural, pods.namespaced), ("pods", true));
    assert!(
        ["list", "watch", "patch"]
            .iter()
            .all(|verb| pods.verbs.iter().any(|have| &**have == *verb))
    );
    let roles = find(&client, "rbac.authorization.k8s.io/v1", "ClusterRole").await.expect("roles");
    assert_eq!((&*roles.plural, roles.namespaced), ("clusterroles", false));
    let scalers = client.preferred_resource("autoscaling", "HorizontalPodAutoscaler").await;
    assert_eq!(scalers.expect("discovery works").expect("served").gvk.version, "v2");
    assert!(find(&client, "autoscaling/v1", "HorizontalPodAutoscaler").await.is_some());
    assert!(client.clone().preferred_resource("", "Pod").await.expect("discovery works").is_some());

    let paths: Vec<String> = proxy.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert!(paths.contains(&"/api".to_owned()) && paths.contains(&"/apis".to_owned()));
    client.forget_resources();
    assert_eq!(find(&client, "example.com/v1", "Widget").await, None);
    assert_eq!(client.requests(), 4);
}

#[tokio::test]
async fn many_who_ask_at_once_share_the_answer() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    let asked = (0..20).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { find(&client, "apps/v1", "Deployment").await.is_some() })
    });
    for found in asked.collect::<Vec<_>>() {
        assert!(found.await.expect("no panic"));
    }
    assert_eq!(client.requests(), 2);
}

#[tokio::test]
async fn a_definition_that_comes_later_is_found() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    assert_eq!(find(&client, "late.example.com/v1", "Late").await, None);
    let definition = node(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
          metadata: {name: lates.late.example.com},
          spec: {group: late.example.com, scope: Cluster, names: {kind: Late, plural: lates},
          versions: [{name: v1, served: true, storage: true,
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}",
    );
    apply(&client, "", &definition, FORCED).await.expect("applied");
    let late = loop {
        match find(&client, "late.example.com/v1", "Late").await {
            Some(late) => break late,
            None => client.forget_resources(),
        }
    };
    assert_eq!((&*late.plural, late.namespaced), ("lates", false));
}

#[tokio::test]
async fn a_group_whose_server_is_down_harms_no_other() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    let service = node(
        "{apiVersion: apiregistration.k8s.io/v1, kind: APIService,
          metadata: {name: v1.down.example.com},
          spec: {group: down.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 1,
            insecureSkipTLSVerify: true, service: {name: nobody, namespace: default}}}",
    );
    apply(&client, "", &service, FORCED).await.expect("applied");
    client.forget_resources();
    assert_eq!(find(&client, "down.example.com/v1", "Thing").await, None);
    assert!(find(&client, "apps/v1", "Deployment").await.is_some());
    // Our own server has no others behind it.
    let is_real = env::var_os(TEST_SERVER_VARIABLE).is_some_and(|server| server == "real");
    let thing = Gvk::new(&"down.example.com/v1".into(), "Thing".into());
    let begun = Instant::now();
    while is_real && client.resource_in_any_version(&thing).await.is_ok() {
        assert!(begun.elapsed() < Duration::from_mins(1), "the group is said to have no kinds");
        sleep(Duration::from_millis(100)).await;
    }
}
