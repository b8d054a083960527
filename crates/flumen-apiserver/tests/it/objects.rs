//! Objects from their creation to their end.

use flumen_apiserver::{Deletion, Media, ResourceName};
use serde_json::{Value, json};

use crate::{
    fixture::Fixture,
    server::{CONFIG_MAPS, config_map, refusal, start},
};

#[tokio::test]
async fn an_object_lives() {
    let client = start().await;
    let object = config_map("a", json!({ "k": "1" }));
    let created = client.create(CONFIG_MAPS, "default", &object).await.expect("it is new");
    assert_eq!(created["data"]["k"], "1");
    let again = client.create(CONFIG_MAPS, "default", &object).await;
    assert_eq!(refusal(again), (409, "configmaps \"a\" already exists".to_owned()));

    let same = client.update(CONFIG_MAPS, &created).await.expect("it is the same");
    assert_eq!(same["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    let mut changed = created.clone();
    changed["data"]["k"] = "2".into();
    client.update(CONFIG_MAPS, &changed).await.expect("nobody was faster");
    let (code, message) = refusal(client.update(CONFIG_MAPS, &changed).await);
    assert_eq!(code, 409, "{message}");

    let deletion = Deletion { uid: Some("another".to_owned()), ..Deletion::default() };
    let (code, _) = refusal(client.delete(CONFIG_MAPS, "default", "a", deletion).await);
    assert_eq!(code, 409);
    client.delete(CONFIG_MAPS, "default", "a", Deletion::default()).await.expect("it goes");
    let (code, _) = refusal(client.get(CONFIG_MAPS, "default", "a").await);
    assert_eq!(code, 404);
}

#[tokio::test]
async fn finalizers_hold_an_object() {
    let client = start().await;
    let mut object = config_map("a", json!({}));
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    client.create(CONFIG_MAPS, "default", &object).await.expect("it is new");
    client.delete(CONFIG_MAPS, "default", "a", Deletion::default()).await.expect("it begins");
    let mut held = client.get(CONFIG_MAPS, "default", "a").await.expect("it is held");
    assert!(held["metadata"]["deletionTimestamp"].is_string());
    held["metadata"]["finalizers"] = json!([]);
    client.update(CONFIG_MAPS, &held).await.expect("it is let go");
    assert_eq!(refusal(client.get(CONFIG_MAPS, "default", "a").await).0, 404);
}

#[tokio::test]
async fn patches_of_all_types_apply() {
    let client = start().await;
    let object = config_map("a", json!({ "k": "1", "l": "1" }));
    client.create(CONFIG_MAPS, "default", &object).await.expect("it is new");
    let cases = [
        (Media::MergePatch, json!({ "data": { "k": null } }), json!({ "l": "1" })),
        (
            Media::StrategicMergePatch,
            json!({ "data": { "m": "2" } }),
            json!({ "l": "1", "m": "2" }),
        ),
        (Media::JsonPatch, json!([{ "op": "remove", "path": "/data/l" }]), json!({ "m": "2" })),
    ];
    for (media, patch, expected) in cases {
        let place = ("default", "a");
        let done = client.patch(CONFIG_MAPS, place, "", (media, &patch)).await;
        assert_eq!(done.expect("it applies")["data"], expected, "{media:?}");
    }
    let patch = json!([{ "op": "test", "path": "/data/m", "value": "3" }]);
    let done = client.patch(CONFIG_MAPS, ("default", "a"), "", (Media::JsonPatch, &patch)).await;
    assert_eq!(refusal(done).0, 422);
}

#[tokio::test]
async fn applying_twice_changes_nothing() {
    let client = start().await;
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "a", "namespace": "default" },
        "data": { "k": "1" },
    });
    let first = client.apply(CONFIG_MAPS, &object).await.expect("it is created");
    let second = client.apply(CONFIG_MAPS, &object).await.expect("it is there");
    assert_eq!(first, second);
    assert_eq!(first["metadata"]["managedFields"][0]["manager"], "test");
}

#[tokio::test]
async fn lists_select_by_labels_and_fields() {
    let server = Fixture::start().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    for (name, tier) in [("a", "1"), ("b", "2"), ("c", "2")] {
        let mut object = config_map(name, json!({}));
        object["metadata"]["labels"] = json!({ "tier": tier });
        assert_eq!(server.create(maps, &object).await.status, 201);
    }
    let names = async |selector: &str| {
        let list = server.get(&format!("{maps}?{selector}")).await.json();
        let items = list["items"].as_array().expect("it lists").iter();
        items.map(|item| item["metadata"]["name"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("labelSelector=tier%3D2").await, ["\"b\"", "\"c\""]);
    assert_eq!(names("fieldSelector=metadata.name!%3Db").await, ["\"a\"", "\"c\""]);
    let wrong = server.get(&format!("{maps}?fieldSelector=data.k%3D1")).await;
    assert_eq!(wrong.status, 400);
}

#[tokio::test]
async fn a_scale_changes_the_replicas_of_its_object() {
    let client = start().await;
    let deployments = ResourceName::new("apps", "v1", "deployments");
    let deployment = json!({
        "metadata": { "name": "web", "namespace": "default" },
        "spec": {
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "app", "image": "registry.example.com/app:1" }] },
            },
        },
    });
    client.create(deployments, "default", &deployment).await.expect("it is new");
    let patch = json!({ "spec": { "replicas": 4 } });
    let place = ("default", "web");
    let scale = client.patch(deployments, place, "scale", (Media::MergePatch, &patch)).await;
    assert_eq!(scale.expect("it scales")["status"]["selector"], "app=web");
    let scaled = client.get(deployments, "default", "web").await.expect("it is there");
    assert_eq!(
        (&scaled["spec"]["replicas"], &scaled["metadata"]["generation"]),
        (&4.into(), &2.into())
    );
}

#[tokio::test]
async fn services_get_addresses_of_their_own() {
    let client = start().await;
    let services = ResourceName::new("", "v1", "services");
    let service = |name: &str| {
        json!({
            "metadata": { "name": name, "namespace": "default" },
            "spec": { "ports": [{ "port": 80 }] },
        })
    };
    let a = client.create(services, "default", &service("a")).await.expect("it is new");
    let b = client.create(services, "default", &service("b")).await.expect("it is new");
    assert_ne!(a["spec"]["clusterIP"], b["spec"]["clusterIP"]);
    let mut taken = service("c");
    taken["spec"]["clusterIP"] = a["spec"]["clusterIP"].clone();
    let (code, message) = refusal(client.create(services, "default", &taken).await);
    assert_eq!(code, 422);
    assert!(message.ends_with("provided IP is already allocated"), "{message}");
    client.delete(services, "default", "a", Deletion::default()).await.expect("it goes");
    client.create(services, "default", &taken).await.expect("the address is free again");
}

#[tokio::test]
async fn another_spelling_is_no_change_whenever_it_comes() {
    let client = start().await;
    let ranges = ResourceName::new("", "v1", "limitranges");
    let range = json!({
        "metadata": { "name": "a", "namespace": "default", "labels": { "tier": "a" } },
        "spec": { "limits": [{ "type": "Container", "max": { "cpu": "0.1" } }] },
    });
    let mut old = client.create(ranges, "default", &range).await.expect("it is new");
    // With another owner, so that not only times differ.
    let owners = old["metadata"]["managedFields"].as_array_mut().expect("it has an owner");
    owners.push(owners[0].clone());
    owners[1]["manager"] = "other".into();
    owners[1]["fieldsV1"] = json!({ "f:metadata": { "f:labels": { "f:tier": {} } } });
    for owner in owners {
        owner["time"] = "2001-01-01T00:00:00Z".into();
    }
    let old = client.update(ranges, &old).await.expect("it is valid");
    assert_eq!(old["metadata"]["managedFields"][1]["time"], "2001-01-01T00:00:00Z");

    let same = client.update(ranges, &range).await.expect("it is valid");
    assert_eq!(same["metadata"], old["metadata"]);
}

#[tokio::test]
async fn a_try_to_delete_what_only_an_option_held_shows_an_empty_object() {
    let server = Fixture::start().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let held = |name: &str, finalizers: &[&str]| {
        let metadata = json!({ "name": name, "finalizers": finalizers });
        json!({ "metadata": metadata, "data": { "k": "1" } })
    };
    for (name, finalizers) in [("a", &["orphan"][..]), ("b", &[])] {
        let created = server.create(maps, &held(name, finalizers)).await;
        assert_eq!(created.status, 201, "{}", created.text());
    }
    let try_to_delete = async |name: &str| {
        let path = format!("{maps}/{name}?dryRun=All&propagationPolicy=Background");
        server.ask("DELETE", &path, &[], "").await.json()
    };
    let empty = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {} });
    assert_eq!(try_to_delete("a").await, empty);
    assert_eq!(try_to_delete("b").await["kind"], "Status");
}

#[tokio::test]
async fn types_of_a_network_policy_that_are_emptied_come_back() {
    let client = start().await;
    let policies = ResourceName::new("networking.k8s.io", "v1", "networkpolicies");
    let policy = json!({ "metadata": { "name": "a" }, "spec": { "podSelector": {} } });
    let created = client.create(policies, "default", &policy).await.expect("it is new");
    let patch = |field: &str| json!([{ "op": "add", "path": field, "value": [] }]);
    let patched = async |field: &str| {
        let patch = patch(field);
        let done = client.patch(policies, ("default", "a"), "", (Media::JsonPatch, &patch)).await;
        done.expect("it is valid")["metadata"]["generation"].clone()
    };
    assert_eq!(patched("/spec/policyTypes").await, created["metadata"]["generation"]);
    assert_eq!(patched("/spec/ingress").await, 2, "other empty lists are counted");
}

#[tokio::test]
async fn an_autoscaler_keeps_its_metrics_when_its_first_version_is_applied() {
    let server = Fixture::start().await;
    let apply = async |version: &str, name: &str, manager: &str, spec: Value| {
        let path = format!(
            "/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers/{name}\
             ?fieldManager={manager}&force=true"
        );
        let mut object = json!({
            "apiVersion": format!("autoscaling/{version}"),
            "kind": "HorizontalPodAutoscaler",
            "metadata": { "name": name },
        });
        if !spec.is_null() {
            object["spec"] = spec;
        }
        let headers = ["Content-Type: application/apply-patch+yaml"];
        server.ask("PATCH", &path, &headers, &object.to_string()).await.json()
    };
    let target = json!({ "kind": "Deployment", "name": "d", "apiVersion": "apps/v1" });
    let processors = json!({ "type": "Resource", "resource": {
        "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 50 },
    } });
    let pods = json!({ "type": "Pods", "pods": {
        "metric": { "name": "m" }, "target": { "type": "AverageValue", "averageValue": "1k" },
    } });
    let spec =
        |metrics: Value| json!({ "maxReplicas": 3, "scaleTargetRef": target, "metrics": metrics });

    // Who owned the metrics no longer sends them; without any there is a default, which counts as there.
    apply("v2", "a", "one", spec(json!([processors]))).await;
    let plain = json!({ "maxReplicas": 3, "scaleTargetRef": target });
    let old = apply("v1", "a", "one", plain).await;
    assert_eq!(old["spec"]["targetCPUUtilizationPercentage"], 50);

    // What changes nothing does not even change the order of metrics.
    let new = apply("v2", "b", "one", spec(json!([processors, pods]))).await;
    let old = apply("v1", "b", "other", Value::Null).await;
    assert_eq!(old["metadata"]["resourceVersion"], new["metadata"]["resourceVersion"]);
}
