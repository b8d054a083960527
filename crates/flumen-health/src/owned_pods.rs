//! What the pods of a controller say about it.

use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{Health, Status, assess, facts::conditions};

/// Whether the pods that `spec.selector` selects can change the verdict on an object.
pub fn depends_on_pods(object: &Node) -> bool {
    let gvk = Gvk::of(object);
    gvk.group == "apps" && matches!(gvk.kind.as_str(), "StatefulSet" | "ReplicaSet")
}

/// Turns progress into failure when pods have failed for good.
pub(crate) fn correct(health: Health, pods: &[&Node], now: Timestamp) -> Health {
    if health.status != Status::InProgress {
        return health;
    }
    match pods.iter().filter(|pod| has_failed_for_good(pod, now)).count() {
        0 => health,
        failed => Health::bare(Status::Failed, format!("{failed} pods have failed")),
    }
}

/// Pods that nothing can be scheduled for wait for a larger cluster, and those that are being deleted
/// make room for others: neither counts.
fn has_failed_for_good(pod: &Node, now: Timestamp) -> bool {
    let failed = assess(pod, now).is_ok_and(|health| health.status == Status::Failed);
    failed && !is_unschedulable(pod)
}

fn is_unschedulable(pod: &Node) -> bool {
    conditions(pod).is_ok_and(|conditions| {
        conditions.iter().any(|condition| {
            condition.is("PodScheduled", "False") && condition.reason == "Unschedulable"
        })
    })
}
