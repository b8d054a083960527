//! Rows of the kinds whose cells are worked out.

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-01-02T00:00:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

fn check(group: &str, kind: &str, object: &Value, expected: &Value) {
    assert_eq!(Value::Array(Table::of(group, kind).cells(object, now())), *expected);
}

/// Ready, status and restarts of a pod.
fn check_pod(pod: &Value, expected: &Value) {
    let cells = Table::of("", "Pod").cells(pod, now());
    assert_eq!(Value::from(cells[1..4].to_vec()), *expected);
}

#[test]
fn every_table_has_a_cell_a_column() {
    for table in &*TABLES {
        let cells = table.cells(&json!({}), now()).len();
        // The server itself prints one cell more here.
        let extra = usize::from(table.kind == "IPAddress");
        assert_eq!(cells, table.columns.len() + extra, "{}", table.kind);
    }
}

#[test]
fn every_list_of_cells_has_columns() {
    let own = kinds::all().filter(|(group, kind)| Table::of(group, kind).kind != *kind);
    assert_eq!(own.collect::<Vec<_>>(), Vec::<(&str, &str)>::new());
}

#[test]
fn a_kind_without_a_table_has_its_name_and_time() {
    let object = json!({"metadata": {"name": "a", "creationTimestamp": NOW}});
    check("", "LimitRange", &object, &json!(["a", NOW]));
    let columns = &Table::of("", "LimitRange").columns;
    assert_eq!((columns[1].name, columns[1].type_name), ("Created At", "date"));
}

#[test]
fn a_running_pod_counts_ready_containers_and_restarts() {
    let pod = json!({
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T23:59:00Z"},
        "spec": {"containers": [{"name": "x"}, {"name": "y"}], "nodeName": "n"},
        "status": {
            "phase": "Running",
            "podIPs": [{"ip": "10.0.0.1"}],
            "containerStatuses": [
                {"name": "x", "ready": true, "state": {"running": {}}, "restartCount": 2,
                 "lastState": {"terminated": {"finishedAt": "2026-01-01T23:57:00Z"}}},
                {"name": "y", "ready": false, "state": {"running": {}}, "restartCount": 1},
            ],
        },
    });
    let row =
        json!(["a", "1/2", "Running", "3 (3m ago)", "60s", "10.0.0.1", "n", "<none>", "<none>"]);
    check("", "Pod", &pod, &row);
}

#[test]
fn a_pod_says_what_its_containers_wait_for() {
    let waiting = json!({
        "spec": {"containers": [{"name": "x"}]},
        "status": {
            "phase": "Pending",
            "containerStatuses": [{"name": "x", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
        },
    });
    check_pod(&waiting, &json!(["0/1", "ImagePullBackOff", "0"]));
}

#[test]
fn init_containers_come_first_and_sidecars_count() {
    let mut pod = json!({
        "spec": {
            "containers": [{"name": "x"}],
            "initContainers": [{"name": "side", "restartPolicy": "Always"}, {"name": "once"}],
        },
        "status": {
            "phase": "Pending",
            "initContainerStatuses": [
                {"name": "side", "started": true, "ready": true, "restartCount": 1,
                 "state": {"running": {}}},
                {"name": "once", "restartCount": 2, "state": {"waiting": {"reason": "PodInitializing"}}},
            ],
        },
    });
    check_pod(&pod, &json!(["1/2", "Init:1/2", "3"]));
    let once = &mut pod["status"]["initContainerStatuses"][1]["state"];
    *once = json!({"terminated": {"exitCode": 3}});
    check_pod(&pod, &json!(["1/2", "Init:ExitCode:3", "3"]));
    pod["status"]["initContainerStatuses"][1]["state"] = json!({"terminated": {"exitCode": 0}});
    check_pod(&pod, &json!(["1/2", "Pending", "1"]));
}

#[test]
fn completed_containers_beside_others_are_not_the_end() {
    let mut pod = json!({
        "spec": {"containers": [{"name": "x"}, {"name": "y"}]},
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {"name": "x", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                {"name": "y", "ready": true, "state": {"running": {}}},
            ],
        },
    });
    check_pod(&pod, &json!(["1/2", "NotReady", "0"]));
    pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    check_pod(&pod, &json!(["1/2", "Running", "0"]));
    pod["metadata"] = json!({"deletionTimestamp": NOW});
    check_pod(&pod, &json!(["1/2", "Terminating", "0"]));
}

#[test]
fn gated_and_lost_pods_say_so() {
    let gated = json!({"status": {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
    }});
    check_pod(&gated, &json!(["0/0", "SchedulingGated", "0"]));
    let lost = json!({
        "metadata": {"deletionTimestamp": NOW},
        "status": {"phase": "Running", "reason": "NodeLost"},
    });
    check_pod(&lost, &json!(["0/0", "Unknown", "0"]));
}

#[test]
fn rows_of_pods_that_are_over_have_a_condition() {
    let table = Table::of("", "Pod");
    let condition = table.conditions(&json!({"status": {"phase": "Failed"}}));
    assert_eq!(condition.as_ref().and_then(|c| c.pointer("/0/reason")), Some(&json!("Failed")));
    assert_eq!(table.conditions(&json!({"status": {"phase": "Running"}})), None);
}

#[test]
fn jobs_show_how_far_they_are() {
    let job = json!({
        "metadata": {"name": "j", "creationTimestamp": NOW},
        "spec": {"completions": 3, "selector": {"matchLabels": {"a": "b"}},
                 "template": {"spec": {"containers": [{"name": "x", "image": "i"}]}}},
        "status": {
            "succeeded": 3,
            "startTime": "2026-01-01T00:00:00Z",
            "completionTime": "2026-01-01T00:05:30Z",
            "conditions": [{"type": "SuccessCriteriaMet", "status": "True"},
                           {"type": "Complete", "status": "True"}],
        },
    });
    check("batch", "Job", &job, &json!(["j", "Complete", "3/3", "5m30s", "0s", "x", "i", "a=b"]));
    let queue = json!({"spec": {"parallelism": 4}, "status": {"succeeded": 1}});
    assert_eq!(Table::of("batch", "Job").cells(&queue, now())[2], "1/1 of 4");
}

#[test]
fn services_show_their_addresses_by_type() {
    let table = Table::of("", "Service");
    let external = |service: Value| table.cells(&service, now())[3].clone();
    assert_eq!(external(json!({"spec": {"type": "ClusterIP"}})), "<none>");
    assert_eq!(external(json!({"spec": {"type": "LoadBalancer"}})), "<pending>");
    let balanced = json!({
        "spec": {"type": "LoadBalancer", "externalIPs": ["1.2.3.4"]},
        "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}, {"ip": "10.1.1.1"}]}},
    });
    assert_eq!(external(balanced), "10.1.1.1,lb.example.com,1.2.3.4");
    let ports = json!({"spec": {"ports": [
        {"port": 80, "protocol": "TCP", "nodePort": 30000}, {"port": 53, "protocol": "UDP"},
    ]}});
    assert_eq!(table.cells(&ports, now())[4], "80:30000/TCP,53/UDP");
}

#[test]
fn long_lists_are_cut() {
    let ip = |n: u8| json!({"ip": format!("10.0.0.{n}")});
    let endpoints = json!({"subsets": [
        {"addresses": [ip(1), ip(2)], "ports": [{"port": 80}, {"port": 443}]},
        {"addresses": [{"ip": "fd00::1"}]},
    ]});
    let cells = Table::of("", "Endpoints").cells(&endpoints, now());
    assert_eq!(cells[1], "10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 2 more...");
    let rules: Vec<Value> = ["a", "b", "c", "d"].iter().map(|host| json!({"host": host})).collect();
    let cells =
        Table::of("networking.k8s.io", "Ingress").cells(&json!({"spec": {"rules": rules}}), now());
    assert_eq!(cells[2], "a,b,c + 1 more...");
}

#[test]
fn autoscalers_show_each_metric() {
    let autoscaler = json!({
        "spec": {"metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
            {"type": "External", "external": {"target": {"value": "10"}}},
            {"type": "Pods", "pods": {"target": {"averageValue": "1"}}},
        ]},
        "status": {"currentMetrics": [{"resource": {"current": {"averageUtilization": 30}}}]},
    });
    let table = Table::of("autoscaling", "HorizontalPodAutoscaler");
    assert_eq!(table.cells(&autoscaler, now())[2], "cpu: 30%/80%, <unknown>/10 + 1 more...");
    let old = json!({"spec": {"targetCPUUtilizationPercentage": 50}});
    assert_eq!(table.cells(&old, now())[2], "cpu: <unknown>/50%");
}

#[test]
fn events_read_alike_in_both_versions() {
    let core = json!({
        "metadata": {"name": "e"}, "type": "Normal", "reason": "Started", "message": " done\n",
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
        "firstTimestamp": "2026-01-01T23:58:00Z", "lastTimestamp": "2026-01-01T23:59:00Z", "count": 4,
        "source": {"component": "kubelet", "host": "n"},
    });
    let new = json!({
        "metadata": {"name": "e"}, "type": "Normal", "reason": "Started", "note": " done\n",
        "regarding": {"kind": "Pod", "name": "p", "fieldPath": "spec"}, "deprecatedCount": 4,
        "deprecatedFirstTimestamp": "2026-01-01T23:58:00Z",
        "deprecatedLastTimestamp": "2026-01-01T23:59:00Z",
        "deprecatedSource": {"component": "kubelet", "host": "n"},
    });
    let row =
        json!(["60s", "Normal", "Started", "pod/p", "spec", "kubelet, n", "done", "2m", 4, "e"]);
    check("", "Event", &core, &row);
    check("events.k8s.io", "Event", &new, &row);
}

#[test]
fn volumes_and_claims_show_what_they_are_bound_to() {
    let volume = json!({
        "metadata": {"name": "v", "creationTimestamp": NOW},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                 "persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "n", "name": "c"},
                 "storageClassName": "s", "volumeMode": "Filesystem"},
        "status": {"phase": "Bound"},
    });
    let row = json!([
        "v",
        "1Gi",
        "RWO,RWX",
        "Delete",
        "Bound",
        "n/c",
        "s",
        "<unset>",
        "",
        "0s",
        "Filesystem"
    ]);
    check("", "PersistentVolume", &volume, &row);
    let pending = json!({
        "metadata": {"name": "c", "creationTimestamp": NOW},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"},
    });
    let row = json!(["c", "Pending", "", "", "", "", "<unset>", "0s", "<unset>"]);
    check("", "PersistentVolumeClaim", &pending, &row);
}
