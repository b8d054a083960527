//! Services lead to pods, and have addresses.

use flumen_apiserver::ResourceName;
use flumen_sim::Controllers;
use serde_json::{Value, json};

use crate::bench::{Bench, DEPLOYMENTS, PODS};

const SERVICES: ResourceName<'static> = ResourceName::new("", "v1", "services");
const ENDPOINTS: ResourceName<'static> = ResourceName::new("", "v1", "endpoints");
const SLICES: ResourceName<'static> = ResourceName::new("discovery.k8s.io", "v1", "endpointslices");
const NODES: ResourceName<'static> = ResourceName::new("", "v1", "nodes");

fn addresses(endpoints: Option<&Value>) -> usize {
    let addresses = endpoints.and_then(|e| e.pointer("/subsets/0/addresses"));
    addresses.and_then(Value::as_array).map_or(0, Vec::len)
}

#[tokio::test]
async fn a_service_follows_its_pods() {
    let bench = Bench::start(Controllers::All).await;
    let service = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    });
    bench.create(SERVICES, service).await;
    let has_address = |service: Option<&Value>| {
        service.is_some_and(|s| s.pointer("/status/loadBalancer/ingress/0/ip").is_some())
    };
    bench.until(SERVICES, "default", "web", has_address).await;
    let deployment = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "img"}]},
            },
        },
    });
    bench.create(DEPLOYMENTS, deployment).await;
    bench.until(ENDPOINTS, "default", "web", |endpoints| addresses(endpoints) == 2).await;
    let slices = bench.list(SLICES, "kubernetes.io/service-name=web").await;
    assert_eq!(slices[0]["endpoints"].as_array().map(Vec::len), Some(2));
    bench.delete(DEPLOYMENTS, "default", "web", "Background").await;
    bench.until(ENDPOINTS, "default", "web", |endpoints| addresses(endpoints) == 0).await;
    bench.delete(SERVICES, "default", "web", "Background").await;
    bench.until_gone(ENDPOINTS, "default", "web").await;
    assert_eq!(bench.list(PODS, "app=web").await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_node_says_that_it_is_simulated() {
    let bench = Bench::start(Controllers::All).await;
    let is_ready = |node: Option<&Value>| {
        let conditions = node.and_then(|node| node["status"]["conditions"].as_array());
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|c| c["type"] == "Ready" && c["status"] == "True")
    };
    let node = bench.until(NODES, "", "flumen", is_ready).await.expect("a node");
    assert_eq!(node["metadata"]["annotations"]["sim.flumen.dev/simulated"], "true");
    assert_eq!(node["status"]["nodeInfo"]["osImage"], "flumen-sim");
    let leases = ResourceName::new("coordination.k8s.io", "v1", "leases");
    bench.until(leases, "kube-node-lease", "flumen", |lease| lease.is_some()).await;
}
