//! What a real server says when it refuses, and what is made of it.

use flumen_kube::{Client, Cluster as _, DeleteOptions, Error, ObjectName};
use flumen_testkit::KubeCluster;
use flumen_yaml::Node;

use crate::support::{FORCED, apply, client, config_map, node, resource};

/// What a second apply answers that changes the first manifest by replacing text.
async fn change(client: &Client, namespace: &str, manifest: &str, from: &str, to: &str) -> Error {
    apply(client, namespace, &node(manifest), FORCED).await.expect("the first one is accepted");
    assert!(manifest.contains(from), "{from}");
    let changed = node(&manifest.replace(from, to));
    apply(client, namespace, &changed, FORCED).await.expect_err(&format!("{from} to {to}"))
}

const POD: &str = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: 'registry.example.com/c:1'}]}}";

#[tokio::test]
async fn fields_that_cannot_change_are_recognised() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let deployment = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}},
          spec: {{selector: {{matchLabels: {{app: a}}}}, template: {POD}}}}}"
    );
    let stateful = format!(
        "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: a}},
          spec: {{serviceName: one, selector: {{matchLabels: {{app: a}}}}, template: {POD}}}}}"
    );
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {
        restartPolicy: Never, containers: [{name: c, image: 'registry.example.com/c:1'}]}}}}";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {
        containers: [{name: c, image: 'registry.example.com/c:1', command: [one]}]}}";
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a},
        spec: {accessModes: [ReadWriteOnce], storageClassName: one, resources: {requests: {storage: 1Gi}}}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: a},
        spec: {clusterIP: 10.0.7.7, ports: [{port: 80}]}}";
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: a}, immutable: true, stringData: {k: one}}";
    let typed = "{apiVersion: v1, kind: Secret, metadata: {name: b}, type: example.com/one}";
    let map =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {k: one}}";
    let binding =
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a},
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}";
    let class = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: immutable},
        provisioner: example.com/one}";
    let priority = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: immutable}, value: 7}";
    let selector = deployment.replace("matchLabels: {app: a}", "matchLabels: {app: b}");
    let cases: [(&str, &str, &str); 12] = [
        (&deployment, &deployment, &selector.replace("labels: {app: a}", "labels: {app: b}")),
        (&stateful, "serviceName: one", "serviceName: two"),
        (job, "c:1", "c:2"),
        (pod, "[one]", "[two]"),
        (claim, "storageClassName: one", "storageClassName: two"),
        (service, "10.0.7.7", "10.0.7.8"),
        (secret, "k: one", "k: two"),
        (typed, "example.com/one", "example.com/two"),
        (map, "k: one", "k: two"),
        (binding, "name: view", "name: edit"),
        (class, "example.com/one", "example.com/two"),
        (priority, "value: 7", "value: 8"),
    ];
    let mut missed = Vec::new();
    for (manifest, from, to) in cases {
        let error = change(&client, &namespace, manifest, from, to).await;
        assert!(error.is_invalid(), "{error:?}");
        if !error.is_immutable() {
            missed.push(format!("{error:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[tokio::test]
async fn rules_of_definitions_can_forbid_changes_too() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    let definition = node(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
          metadata: {name: stones.rules.example.com},
          spec: {group: rules.example.com, scope: Cluster, names: {kind: Stone, plural: stones},
          versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,
            properties: {weight: {type: integer, maximum: 9,
              x-kubernetes-validations: [{rule: self == oldSelf, message: Value is immutable}]}}}}}]}}",
    );
    apply(&client, "", &definition, FORCED).await.expect("applied");
    let stone = "{apiVersion: rules.example.com/v1, kind: Stone, metadata: {name: a}, weight: 1}";
    let gvk = flumen_object::Gvk::of(&node(stone));
    while client.resource(&gvk).await.expect("discovery works").is_none() {
        client.forget_resources();
    }
    // The kind is known a moment before it is served.
    while apply(&client, "", &node(stone), FORCED).await.is_err_and(|error| error.is_not_found()) {}
    assert!(change(&client, "", stone, "weight: 1", "weight: 2").await.is_immutable());
    let heavy = stone.replace("name: a", "name: b").replace("weight: 1", "weight: 10");
    let error = apply(&client, "", &node(&heavy), FORCED).await.expect_err("too heavy");
    assert!(error.is_invalid() && !error.is_immutable(), "{error:?}");
}

#[tokio::test]
async fn plain_mistakes_are_not_taken_for_changes() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let deployment = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}},
          spec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {POD}}}}}"
    );
    let service =
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: one}}";
    let long = format!("k: one}}, metadata: {{name: a, labels: {{x: {}}}", "y".repeat(64));
    let cases = [
        (&*deployment, "replicas: 1", "replicas: -1"),
        (&*deployment, "labels: {app: a}", "labels: {app: b}"),
        (&*deployment, "image: 'registry.example.com/c:1'", "image: ''"),
        (service, "port: 80", "port: 0"),
        (map, "k: one", "'k k': one"),
        (map, "metadata: {name: a}, data: {k: one}", &format!("data: {{{long}}}")),
    ];
    for (manifest, from, to) in cases {
        let error = change(&client, &namespace, manifest, from, to).await;
        assert!(error.is_invalid() && !error.is_immutable(), "{error:?}");
    }
    let unknown = node("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, spec: {}}");
    let error = apply(&client, &namespace, &unknown, FORCED).await.expect_err("no such field");
    assert!(error.to_string().contains(".spec: field not declared in schema"), "{error}");
    assert!(!error.is_immutable());
    let before = client.requests();
    apply(&client, &namespace, &unknown, FORCED).await.expect_err("no such field");
    assert_eq!(client.requests() - before, 1, "asking again would not help");
}

#[tokio::test]
async fn namespaces_that_end_or_are_not_there_are_recognised() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let namespaces = resource(&client, "v1", "Namespace").await;
    let object = ObjectName { resource: &namespaces, namespace: "", name: &namespace };
    client.delete(object, DeleteOptions::default()).await.expect("deleted");
    let error = apply(&client, &namespace, &config_map("a", "1"), FORCED).await;
    let error = error.expect_err("the namespace ends");
    assert!(error.is_namespace_terminating() && !error.is_namespace_missing(), "{error:?}");
    assert!(error.hint().expect("a hint").contains("finalizers"));

    let error = apply(&client, "nowhere", &config_map("a", "1"), FORCED).await;
    let error = error.expect_err("no namespace");
    assert!(error.is_namespace_missing() && error.is_not_found(), "{error:?}");
    assert!(error.hint().expect("a hint").contains("--create-namespace"));
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: "", name: "a" };
    let error = client.get(object).await.expect_err("no namespace");
    assert_eq!(error.to_string(), "ConfigMap/a needs a namespace");
}

#[tokio::test]
async fn objects_that_are_too_large_are_recognised() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    // What etcd takes, what a server reads, and what a ConfigMap may hold.
    for size in [1_100_000, 2_000_000, 4_000_000] {
        let large = config_map("large", &"x".repeat(size));
        let error = apply(&client, &namespace, &large, FORCED).await.expect_err("too large");
        assert!(error.is_too_large(), "{size}: {error:?}");
        assert!(error.to_string().len() < 1_000, "the object is not in the message");
        assert!(error.hint().expect("a hint").contains("split"));
    }
}

#[tokio::test]
async fn a_webhook_that_is_down_is_recognised() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let hook = node(&format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,
           metadata: {{name: {namespace}}}, webhooks: [{{name: down.example.com, sideEffects: None,
           admissionReviewVersions: [v1], timeoutSeconds: 1,
           clientConfig: {{url: 'https://127.0.0.1:1/'}},
           namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}},
           rules: [{{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps]}}]}}]}}"
    ));
    apply(&client, "", &hook, FORCED).await.expect("applied");
    let mut number = 0;
    let error = loop {
        number += 1;
        // The server needs a moment to know the webhook.
        let name = format!("map-{number}");
        if let Err(error) = apply(&client, &namespace, &config_map(&name, "1"), FORCED).await {
            break error;
        }
    };
    assert!(error.is_webhook_failure(), "{error:?}");
    assert!(error.to_string().contains("down.example.com"), "{error}");
    assert!(error.hint().expect("a hint").contains("webhook"));
}

#[tokio::test]
async fn no_secret_is_in_a_message() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let check = async |fields: &str| {
        let secret =
            node(&format!("{{apiVersion: v1, kind: Secret, metadata: {{name: a}}, {fields}}}"));
        let error = apply(&client, &namespace, &secret, FORCED).await.expect_err(fields);
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(!shown.contains("31337"), "{shown}");
        shown
    };
    check("data: {password: '31337 is no base 64!'}").await;
    let shown = check("stringData: {password: 31337}").await;
    assert!(shown.contains("stringData.password"), "{shown}");
    check("stringData: {password: [31337]}").await;
    check("stringData: {'31337': {a: 31337}}".replace("'31337'", "p").as_str()).await;
    check("data: 31337").await;
    check("stringData: {password: s31337}, type: kubernetes.io/tls").await;
    check("stringData: {.dockerconfigjson: 'x31337'}, type: kubernetes.io/dockerconfigjson").await;

    let good = node("{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {p: v31337}}");
    let live = apply(&client, &namespace, &good, FORCED).await.expect("applied");
    assert!(live.at(&["data", "p"]).and_then(Node::as_str).is_some());
}
