//! Deployments come up, roll and scale.

use std::time::Duration;

use flumen_apiserver::Media;
use flumen_sim::Controllers;
use serde_json::{Value, json};

use crate::bench::{Bench, DEPLOYMENTS, PODS, REPLICA_SETS};

fn web(replicas: i64, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": image}]},
            },
        },
    })
}

async fn change(bench: &Bench, patch: Value) {
    let change = (Media::MergePatch, &patch);
    bench.client.patch(DEPLOYMENTS, ("default", "web"), "", change).await.expect("patched");
}

/// Whether a rollout to this revision is complete, as `kubectl rollout status` sees it.
fn is_complete(replicas: i64, revision: &'static str) -> impl Fn(Option<&Value>) -> bool {
    move |deployment| {
        let Some(deployment) = deployment else { return false };
        let status = &deployment["status"];
        let count = |name: &str| status[name].as_i64().unwrap_or_default();
        let annotation = "/metadata/annotations/deployment.kubernetes.io~1revision";
        deployment.pointer(annotation).and_then(Value::as_str) == Some(revision)
            && status["observedGeneration"] == deployment["metadata"]["generation"]
            && ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]
                .iter()
                .all(|name| count(name) == replicas)
            && progressing(deployment)["reason"] == "NewReplicaSetAvailable"
    }
}

fn progressing(deployment: &Value) -> &Value {
    let conditions = deployment["status"]["conditions"].as_array();
    let found = conditions.into_iter().flatten().find(|c| c["type"] == "Progressing");
    found.unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_deployment_comes_up() {
    let bench = Bench::start(Controllers::All).await;
    bench.create(DEPLOYMENTS, web(3, "img:1")).await;
    let done = bench.until(DEPLOYMENTS, "default", "web", is_complete(3, "1")).await;
    let done = done.expect("a deployment");
    let types: Vec<&Value> =
        done["status"]["conditions"].as_array().into_iter().flatten().map(|c| &c["type"]).collect();
    assert_eq!(types, ["Available", "Progressing"]);
    let sets = bench.list(REPLICA_SETS, "app=web").await;
    let hash = sets[0]["metadata"]["labels"]["pod-template-hash"].as_str().expect("a hash");
    assert_eq!(sets[0]["metadata"]["name"], format!("web-{hash}"));
    let pods = bench.list(PODS, "app=web").await;
    assert_eq!(pods.len(), 3);
    for pod in pods {
        assert_eq!(pod["status"]["phase"], "Running");
        assert_eq!(pod["spec"]["nodeName"], "flumen");
        assert_eq!(pod["metadata"]["annotations"]["sim.flumen.dev/simulated"], "true");
    }
}

#[tokio::test]
async fn a_new_template_is_rolled_out_and_back() {
    let bench = Bench::start(Controllers::All).await;
    bench.create(DEPLOYMENTS, web(3, "img:1")).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(3, "1")).await;
    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}});
    change(&bench, image("img:2")).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(3, "2")).await;
    assert_eq!(bench.list(REPLICA_SETS, "app=web").await.len(), 2);
    change(&bench, image("img:1")).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(3, "3")).await;
    let sets = bench.list(REPLICA_SETS, "app=web").await;
    let history = sets.iter().find_map(|set| {
        set.pointer("/metadata/annotations/deployment.kubernetes.io~1revision-history")
    });
    assert_eq!(history, Some(&json!("1")));
}

#[tokio::test]
async fn a_deployment_is_scaled_and_deleted_with_its_pods() {
    let bench = Bench::start(Controllers::All).await;
    bench.create(DEPLOYMENTS, web(1, "img:1")).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(1, "1")).await;
    change(&bench, json!({"spec": {"replicas": 4}})).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(4, "1")).await;
    change(&bench, json!({"spec": {"replicas": 2}})).await;
    bench.until(DEPLOYMENTS, "default", "web", is_complete(2, "1")).await;
    let pod = bench.list(PODS, "app=web").await.swap_remove(0);
    bench.delete(DEPLOYMENTS, "default", "web", "Foreground").await;
    bench.until_gone(DEPLOYMENTS, "default", "web").await;
    bench.until_gone(PODS, "default", pod["metadata"]["name"].as_str().expect("a name")).await;
}

#[tokio::test]
async fn a_rollout_that_does_not_get_on_is_given_up_in_time() {
    let bench = Bench::start(Controllers::All).await;
    let mut deployment = web(1, "img:1");
    deployment["spec"]["progressDeadlineSeconds"] = 30.into();
    deployment["spec"]["template"]["metadata"]["annotations"] =
        json!({"sim.flumen.dev/image-pull-error": "true"});
    bench.create(DEPLOYMENTS, deployment).await;
    let has_pod = |d: Option<&Value>| d.is_some_and(|d| d["status"]["updatedReplicas"] == 1);
    bench.until(DEPLOYMENTS, "default", "web", has_pod).await;
    bench.clock.advance(Duration::from_mins(1));
    let gave_up = |d: Option<&Value>| {
        d.is_some_and(|d| progressing(d)["reason"] == "ProgressDeadlineExceeded")
    };
    let failed = bench.until(DEPLOYMENTS, "default", "web", gave_up).await.expect("a deployment");
    assert_eq!(progressing(&failed)["status"], "False");
}
