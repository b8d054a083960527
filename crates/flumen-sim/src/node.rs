//! The one node that all pods run on.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    clock::seconds_later,
    engine::Context,
    kind::Kind,
    object::{self, stamp, text, time},
    plan::{Action, Plan, Writer},
    pod::SIMULATED,
};

pub(crate) const NAME: &str = "flumen";

/// Of the block that is set aside for documentation, so that it is nobody's.
pub(crate) const ADDRESS: &str = "192.0.2.1";

const LEASES: &str = "kube-node-lease";

/// How long a lease holds, and when it is renewed.
const LEASE_SECONDS: i64 = 40;
const RENEW_SECONDS: i64 = 30;

/// Sees to it that there is a node, and that its lease is fresh. Hangs on the namespace of leases.
pub(crate) fn decide(context: Context<'_>, namespace: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::name(namespace) != LEASES || object::is_ending(namespace) {
        return plan;
    }
    let Some(node) = context.world.find(Kind::Node, "", NAME) else {
        plan.actions.push(Action::Create {
            writer: Writer::Kubelet,
            kind: Kind::Node,
            object: node(),
        });
        return plan;
    };
    if text(node, "/status/nodeInfo/kubeletVersion").is_empty() {
        plan.status(Writer::Kubelet, Kind::Node, node, status(context.now));
    }
    match context.world.find(Kind::Lease, LEASES, NAME) {
        None => {
            let object = lease(node, context.now);
            plan.actions.push(Action::Create {
                writer: Writer::Kubelet,
                kind: Kind::Lease,
                object,
            });
        }
        Some(lease) => {
            let renewed = time(lease, "/spec/renewTime").unwrap_or(Timestamp::UNIX_EPOCH);
            let due = seconds_later(renewed, RENEW_SECONDS);
            if due <= context.now {
                let mut lease = lease.clone();
                object::set(&mut lease, "/spec/renewTime", micro(context.now));
                plan.actions.push(Action::Replace {
                    writer: Writer::Kubelet,
                    kind: Kind::Lease,
                    object: lease,
                });
            }
            plan.again_at(due.max(seconds_later(context.now, 1)));
        }
    }
    plan
}

fn micro(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn lease(node: &Value, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": NAME,
            "namespace": LEASES,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": NAME, "uid": object::uid(node)},
            ],
        },
        "spec": {
            "holderIdentity": NAME,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro(now),
        },
    })
}

fn node() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NAME,
            "annotations": {SIMULATED: "true"},
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": NAME,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "simulated",
            },
        },
    })
}

fn status(now: Timestamp) -> Value {
    let resources = json!({
        "cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "10000",
        "hugepages-1Gi": "0", "hugepages-2Mi": "0",
    });
    let condition = |type_name: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": type_name,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": stamp(now),
            "lastTransitionTime": stamp(now),
        })
    };
    json!({
        "addresses": [
            {"type": "InternalIP", "address": ADDRESS},
            {"type": "Hostname", "address": NAME},
        ],
        "allocatable": resources,
        "capacity": resources,
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            condition("Ready", "True", "KubeletReady", "the node is simulated and takes every pod"),
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "flumen-sim://1",
            "kernelVersion": "simulated",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.35.4",
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "flumen-sim",
            "systemUUID": "",
        },
    })
}
