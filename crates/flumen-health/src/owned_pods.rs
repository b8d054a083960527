//! What the pods of a controller say about it.

use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{Health, Status, assess, facts::conditions};

/// Whether the pods that `spec.selector` selects can change the verdict on an object.
pub(crate) fn depends_on_pods(gvk: &Gvk) -> bool {
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

/// Pods that fit on no node wait for a larger cluster, and those that are being deleted, which are
/// terminating rather than failed, make room for others: neither counts.
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

#[cfg(test)]
mod tests {
    use flumen_object::Gvk;
    use flumen_yaml::Node;
    use jiff::Timestamp;

    use super::{correct, depends_on_pods};
    use crate::{Health, Status};

    fn read(yaml: &str) -> Node {
        let budget = flumen_yaml::Budget::default();
        flumen_yaml::read(&yaml.into(), 1, &budget).expect("YAML").pop().expect("a document")
    }

    fn pod(metadata: &str, conditions: &str) -> Node {
        read(&format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{{metadata}}}, status: {{phase: Running,
            conditions: [{conditions}], containerStatuses: [{{name: c, state: {{waiting: {{
            reason: CrashLoopBackOff}}}}}}]}}}}"
        ))
    }

    const UNSCHEDULABLE: &str = "{type: PodScheduled, status: 'False', reason: Unschedulable}";

    #[track_caller]
    fn check(before: Status, pods: &[Node], status: Status, message: &str) {
        let pods: Vec<&Node> = pods.iter().collect();
        let health = correct(Health::bare(before, "before"), &pods, Timestamp::UNIX_EPOCH);
        assert_eq!((health.status, health.message.as_str()), (status, message));
    }

    #[test]
    fn failed_pods_fail_what_runs_them() {
        let failed = || pod("name: a", "");
        check(Status::InProgress, &[failed(), failed()], Status::Failed, "2 pods have failed");
        check(Status::Current, &[failed()], Status::Current, "before");
        check(Status::InProgress, &[], Status::InProgress, "before");
    }

    #[test]
    fn pods_that_may_recover_or_go_do_not_count() {
        let leaving = pod("deletionTimestamp: '2025-01-01T00:00:00Z'", "");
        let waiting = pod("name: b", UNSCHEDULABLE);
        check(Status::InProgress, &[leaving, waiting], Status::InProgress, "before");
    }

    #[test]
    fn only_some_controllers_are_judged_by_their_pods() {
        for (object, depends) in [
            ("{apiVersion: apps/v1, kind: StatefulSet}", true),
            ("{apiVersion: apps/v1, kind: ReplicaSet}", true),
            ("{apiVersion: apps/v1, kind: Deployment}", false),
            ("{apiVersion: extensions/v1beta1, kind: ReplicaSet}", false),
        ] {
            assert_eq!(depends_on_pods(&Gvk::of(&read(object))), depends, "{object}");
        }
    }
}
