//! What `kubectl get` shows of the kinds that people use most: the columns and the cells of the real server.

use serde_json::{Value, json};

use crate::real::Both;

const TABLE: &str = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io";

/// Where objects of a kind are, one of them, and a status that is written afterwards.
fn objects() -> Vec<(&'static str, Value, Option<Value>)> {
    let labels = json!({"app": "a"});
    let container = json!({"name": "main", "image": "registry.example.com/app:1"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let selector = json!({"matchLabels": labels});
    let once = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    let space = json!({"requests": {"storage": "1Gi"}});
    let role =
        |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "view"});
    let subjects =
        json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}]);
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let time = "2026-01-01T00:00:00Z";
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    vec![
        ("/api/v1/namespaces/default/configmaps", json!({"data": {"a": "1"}}), None),
        ("/api/v1/namespaces/default/secrets", json!({"data": {"a": "MQ=="}}), None),
        ("/api/v1/namespaces/default/serviceaccounts", json!({"secrets": [{"name": "s"}]}), None),
        (
            "/api/v1/namespaces/default/services",
            json!({"spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 80}]}}),
            None,
        ),
        (
            "/api/v1/namespaces/default/endpoints",
            json!({"subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80}]}]}),
            None,
        ),
        (
            "/api/v1/namespaces/default/pods",
            json!({"spec": {"containers": [container], "nodeName": "n"}}),
            Some(json!({
                "phase": "Running", "podIP": "192.0.2.8", "podIPs": [{"ip": "192.0.2.8"}],
                "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{
                    "name": "main", "image": "i", "imageID": "", "ready": false, "restartCount": 3,
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                }],
            })),
        ),
        ("/api/v1/namespaces", json!({}), None),
        (
            "/api/v1/nodes",
            json!({"spec": {"unschedulable": true}}),
            Some(json!({"conditions": [{"type": "Ready", "status": "True"}]})),
        ),
        (
            "/api/v1/persistentvolumes",
            json!({"spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "s", "hostPath": {"path": "/data"},
            }}),
            Some(json!({"phase": "Available"})),
        ),
        (
            "/api/v1/namespaces/default/persistentvolumeclaims",
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": space}}),
            Some(
                json!({"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}),
            ),
        ),
        (
            "/api/v1/namespaces/default/resourcequotas",
            json!({"spec": {"hard": {"pods": "9"}}}),
            Some(json!({"hard": {"pods": "9"}, "used": {"pods": "1"}})),
        ),
        ("/api/v1/namespaces/default/limitranges", json!({"spec": {"limits": []}}), None),
        ("/api/v1/namespaces/default/podtemplates", json!({"template": template}), None),
        (
            "/api/v1/namespaces/default/replicationcontrollers",
            json!({"spec": {"replicas": 2, "selector": labels, "template": template}}),
            None,
        ),
        (
            "/api/v1/namespaces/default/events",
            json!({
                "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
                "reason": "Started", "message": "it runs", "type": "Normal", "count": 2,
                "firstTimestamp": time, "lastTimestamp": time, "source": {"component": "test"},
            }),
            None,
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"spec": {"replicas": 3, "selector": selector, "template": template}}),
            Some(
                json!({"replicas": 3, "updatedReplicas": 2, "readyReplicas": 1, "availableReplicas": 1}),
            ),
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            json!({"spec": {"serviceName": "s", "selector": selector, "template": template}}),
            Some(json!({"replicas": 1, "readyReplicas": 1})),
        ),
        (
            "/apis/apps/v1/namespaces/default/daemonsets",
            json!({"spec": {"selector": selector, "template": template}}),
            Some(json!({
                "currentNumberScheduled": 1, "desiredNumberScheduled": 2, "numberMisscheduled": 0,
                "numberReady": 1,
            })),
        ),
        (
            "/apis/apps/v1/namespaces/default/replicasets",
            json!({"spec": {"replicas": 2, "selector": selector, "template": template}}),
            Some(json!({"replicas": 2, "readyReplicas": 1})),
        ),
        (
            "/apis/apps/v1/namespaces/default/controllerrevisions",
            json!({"revision": 3, "data": {}}),
            None,
        ),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            // Its own selector would be an identity.
            json!({"spec": {"completions": 2, "manualSelector": true, "selector": selector, "template": {
                "metadata": {"labels": labels}, "spec": once["spec"],
            }}}),
            None,
        ),
        (
            "/apis/batch/v1/namespaces/default/cronjobs",
            json!({"spec": {"schedule": "@daily", "suspend": true, "jobTemplate": {"spec": {"template": once}}}}),
            None,
        ),
        (
            "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
            json!({"spec": {
                "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                "metrics": [{"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
                }}],
            }}),
            None,
        ),
        (
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            json!({"spec": {"minAvailable": 1, "selector": selector}}),
            None,
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
            json!({"spec": {"ingressClassName": "c", "tls": [{}], "rules": [{"host": "a.example.com"}],
                "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
            None,
        ),
        (
            "/apis/networking.k8s.io/v1/ingressclasses",
            json!({"spec": {"controller": "example.com/c"}}),
            None,
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
            json!({"spec": {"podSelector": selector}}),
            None,
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            json!({"rules": rules}),
            None,
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
            json!({"roleRef": role("Role"), "subjects": subjects}),
            None,
        ),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", json!({"rules": rules}), None),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            json!({"roleRef": role("ClusterRole"), "subjects": subjects}),
            None,
        ),
        ("/apis/storage.k8s.io/v1/storageclasses", json!({"provisioner": "example.com/p"}), None),
        ("/apis/storage.k8s.io/v1/csidrivers", json!({"spec": {}}), None),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", json!({"value": 7}), None),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            json!({"spec": {"holderIdentity": "me"}}),
            None,
        ),
        (
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            json!({"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.9"]}], "ports": [{"port": 80}]}),
            None,
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            json!({"webhooks": []}),
            None,
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
            json!({"webhooks": []}),
            None,
        ),
        ("/apis/node.k8s.io/v1/runtimeclasses", json!({"handler": "h"}), None),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            json!({
                "metadata": {"name": "tables.tables.example.com"},
                "spec": {
                    "group": "tables.example.com", "scope": "Cluster",
                    "names": {"plural": "tables", "kind": "Table"},
                    "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
                },
            }),
            None,
        ),
    ]
}

/// A table without what differs between any two servers: identities, and how long ago something was.
fn comparable(table: &Value) -> Value {
    let columns = table["columnDefinitions"].as_array().cloned().unwrap_or_default();
    let is_age = |index: usize| {
        let name = columns.get(index).and_then(|column| column["name"].as_str());
        matches!(name, Some("Age" | "Created At" | "First Seen" | "Last Seen"))
    };
    let rows: Vec<Value> = table["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            let cells = row["cells"].as_array().into_iter().flatten().enumerate();
            let cells =
                cells.map(|(index, cell)| if is_age(index) { "…".into() } else { cell.clone() });
            json!({"cells": cells.collect::<Value>(), "conditions": row["conditions"]})
        })
        .collect();
    json!({"kind": table["kind"], "columns": columns, "rows": rows})
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_those_of_the_real_server() {
    let Some(both) = Both::start().await else { return };
    let objects = objects();
    assert!(objects.len() >= 30);
    // Pods are refused without the account that they run as.
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    both.create(accounts, &json!({"metadata": {"name": "default"}})).await;
    for (path, mut object, status) in objects {
        if object["metadata"]["name"].is_null() {
            object["metadata"] = json!({"name": "table", "labels": {"table": "yes"}});
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        both.create(path, &object).await;
        if let Some(status) = status {
            let patch = json!({ "status": status }).to_string();
            let merge = ["Content-Type: application/merge-patch+json"];
            let place = format!("{path}/{name}/status");
            let answers = both.ask("PATCH", &place, &merge, patch.as_bytes()).await;
            assert_eq!((answers.ours.0, answers.theirs.0), (200, 200), "{place}: {answers:?}");
        }
        for place in
            [format!("{path}/{name}"), format!("{path}?fieldSelector=metadata.name%3D{name}")]
        {
            let answers = both.ask("GET", &place, &[TABLE], b"").await;
            assert_eq!(answers.theirs.1["kind"], "Table", "{place}");
            let [ours, theirs] = [answers.ours.1, answers.theirs.1].map(|table| comparable(&table));
            assert_eq!(ours, theirs, "{place}");
        }
    }
}
