//! The verdict on objects of every kind that has a rule.

use flumen_health::{Error, Health, assess, assess_job};
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::node;

fn now() -> Timestamp {
    "2025-01-01T00:01:00Z".parse().expect("a time")
}

/// `Status: message`, and the reason behind a bar where there is a condition.
fn shown(health: Result<Health, Error>) -> String {
    match health {
        Err(error) => format!("error: {error}"),
        Ok(health) => match health.conditions.as_slice() {
            [] => format!("{}: {}", health.status, health.message),
            conditions => {
                let reasons: Vec<_> = conditions.iter().map(|it| it.reason.as_str()).collect();
                format!("{}: {} | {}", health.status, health.message, reasons.join(", "))
            }
        },
    }
}

#[track_caller]
fn check_by(judge: fn(&Node, Timestamp) -> Result<Health, Error>, object: &str, expected: &str) {
    assert_eq!(shown(judge(&node(object), now())), expected, "{object}");
}

/// Judges `apiVersion/kind` with the given other fields.
#[track_caller]
fn check(kind: &str, fields: &str, expected: &str) {
    let (api_version, kind) = kind.rsplit_once('/').expect("a kind");
    let object = format!("{{apiVersion: {api_version}, kind: {kind}, {fields}}}");
    check_by(assess, &object, expected);
}

#[test]
fn deletion_then_generation_then_conditions() {
    let kind = "example.com/v1/Widget";
    let stalled = "{type: Stalled, status: 'True', reason: Bad, message: broken}";
    let busy = "{type: Reconciling, status: 'True', reason: Busy, message: wait}";
    let fields = format!(
        "metadata: {{deletionTimestamp: '2025-01-01T00:00:00Z', generation: 2}},
        status: {{observedGeneration: 1, conditions: [{stalled}]}}"
    );
    check(kind, &fields, "Terminating: Resource scheduled for deletion");
    let fields = format!(
        "metadata: {{generation: 2}}, status: {{observedGeneration: 1, conditions: [{stalled}]}}"
    );
    let expected = "InProgress: Widget generation is 2, but latest observed generation is 1 | \
                    LatestGenerationNotObserved";
    check(kind, &fields, expected);
    check(kind, &format!("status: {{conditions: [{stalled}, {busy}]}}"), "Failed: broken | Bad");
    check(kind, &format!("status: {{conditions: [{busy}, {stalled}]}}"), "InProgress: wait | Busy");
}

#[test]
fn other_kinds_are_judged_by_their_ready_condition() {
    let ready = |status: &str| {
        format!(
            "status: {{conditions: [{{type: Ready, status: '{status}', reason: R, message: m}}]}}"
        )
    };
    let kind = "example.com/v1/Widget";
    check(kind, &ready("True"), "Current: Resource is Ready");
    check(kind, &ready("False"), "InProgress: m | R");
    check(kind, &ready("Unknown"), "InProgress: m | R");
    check(kind, &ready("Perhaps"), "Current: Resource is current");
    check(kind, "status: {}", "Current: Resource is current");
    check("v1/Namespace", "status: {phase: Terminating}", "Current: Resource is current");
}

#[test]
fn what_has_no_shape_is_an_error() {
    let kind = "example.com/v1/Widget";
    check(kind, "status: oops", "error: cannot restore struct from: string");
    check(kind, "status: {conditions: {}}", "error: cannot restore slice from map");
    check(kind, "status: {conditions: [x]}", "error: cannot restore struct from: string");
    let number = "status: {conditions: [{type: Ready, status: 1}]}";
    check(kind, number, "error: cannot convert int64 to v1.ConditionStatus");
    let bool = "status: {conditions: [{type: Ready, status: 'True', reason: true}]}";
    check(kind, bool, "error: unrecognized type: string");
    check(kind, "status: {conditions: [null, {}]}", "Current: Resource is current");
    let generation = "error: looking up metadata.generation from resource: .metadata.generation \
                      accessor error: two is of the type string, expected int64";
    check(kind, "metadata: {generation: two}", generation);
    let metadata = "error: looking up metadata.deletionTimestamp from resource: \
                    .metadata.deletionTimestamp accessor error: [...] is of the type \
                    []interface {}, expected map[string]interface{}";
    check(kind, "metadata: [secret]", metadata);
}

#[test]
fn plain_objects() {
    check("v1/Secret", "data: {}", "Current: Resource is always ready");
    check("batch/v1/CronJob", "spec: {}", "Current: Resource is always ready");
    check(
        "policy/v1/PodDisruptionBudget",
        "spec: {}",
        "Current: AllowedDisruptions has been computed.",
    );
    let waiting = "InProgress: ClusterIP not set. Service type: LoadBalancer | NoIPAssigned";
    check("v1/Service", "spec: {type: LoadBalancer}", waiting);
    check(
        "v1/Service",
        "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}",
        "Current: Service is ready",
    );
    check("v1/Service", "spec: {}", "Current: Service is ready");
    let claim = "v1/PersistentVolumeClaim";
    check(claim, "status: {phase: Bound}", "Current: PVC is Bound");
    check(claim, "spec: {}", "InProgress: PVC is not Bound. phase: unknown | NotBound");
}

#[test]
fn definitions() {
    let kind = "apiextensions.k8s.io/v1/CustomResourceDefinition";
    let with = |conditions: &str| format!("status: {{conditions: [{conditions}]}}");
    check(kind, "spec: {}", "InProgress: Install in progress | Installing");
    check(kind, &with("{type: Established, status: 'True'}"), "Current: CRD is established");
    let installing = with("{type: Established, status: 'False', reason: Installing}");
    check(kind, &installing, "InProgress: Install in progress | Installing");
    let taken = with(
        "{type: NamesAccepted, status: 'False', reason: Taken, message: m},
         {type: Established, status: 'True'}",
    );
    check(kind, &taken, "Failed: m | Taken");
}

#[test]
fn deployments() {
    let status = |fields: &str, conditions: &str| {
        format!(
            "spec: {{replicas: 2, progressDeadlineSeconds: 9}},
            status: {{{fields}, conditions: [{conditions}]}}"
        )
    };
    let kind = "apps/v1/Deployment";
    let full = "replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2";
    let done = "{type: Progressing, status: 'True', reason: NewReplicaSetAvailable}";
    let available = "{type: Available, status: 'True'}";
    let both = format!("{done}, {available}");
    check(kind, &status(full, &both), "Current: Deployment is available. Replicas: 2");
    check(
        kind,
        &status(full, available),
        "InProgress: ReplicaSet not Available | ReplicaSetNotAvailable",
    );
    check(
        kind,
        &status(full, done),
        "InProgress: Deployment not Available | DeploymentNotAvailable",
    );
    let late =
        "{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: slow}";
    let late = status("replicas: 0", late);
    check(kind, &late, "Failed: Progress deadline exceeded | ProgressDeadlineExceeded");
    for (fields, expected) in [
        ("replicas: 1", "Replicas: 1/2 | LessReplicas"),
        ("replicas: 2, updatedReplicas: 1", "Updated: 1/2 | LessUpdated"),
        ("replicas: 3, updatedReplicas: 2", "Pending termination: 1 | ExtraPods"),
        ("replicas: 2, updatedReplicas: 2, availableReplicas: 1", "Available: 1/2 | LessAvailable"),
        (
            "replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 1",
            "Ready: 1/2 | LessReady",
        ),
    ] {
        check(kind, &status(fields, &both), &format!("InProgress: {expected}"));
    }
    check("example.com/v1/Deployment", "spec: {}", "Current: Resource is current");
}

#[test]
fn replica_sets() {
    for (status, expected) in [
        (
            "conditions: [{type: ReplicaFailure, status: 'True'}]",
            "InProgress: Replica Failure condition. Check Pods | ReplicaFailure",
        ),
        ("fullyLabeledReplicas: 0", "InProgress: Labelled: 0/1 | LessLabelled"),
        ("fullyLabeledReplicas: 1", "InProgress: Available: 0/1 | LessAvailable"),
        ("fullyLabeledReplicas: 1, availableReplicas: 1", "InProgress: Ready: 0/1 | LessReady"),
        (
            "fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1, replicas: 2",
            "InProgress: Pending termination: 1 | ExtraPods",
        ),
        (
            "fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1, replicas: 1",
            "Current: ReplicaSet is available. Replicas: 1",
        ),
    ] {
        check("apps/v1/ReplicaSet", &format!("status: {{{status}}}"), expected);
    }
}

#[test]
fn stateful_sets() {
    let kind = "apps/v1/StatefulSet";
    let full = "replicas: 3, readyReplicas: 3";
    let check = |spec: &str, status: &str, expected: &str| {
        let fields = format!("spec: {{replicas: 3, {spec}}}, status: {{{status}}}");
        check(kind, &fields, expected);
    };
    let on_delete = "updateStrategy: {type: OnDelete}";
    check(on_delete, "replicas: 0", "Current: StatefulSet is using the ondelete update strategy");
    check("", "replicas: 2", "InProgress: Replicas: 2/3 | LessReplicas");
    check("", "replicas: 3", "InProgress: Ready: 0/3 | LessReady");
    let extra = "replicas: 5, readyReplicas: 3";
    check("", extra, "InProgress: Pending termination: 2 | ExtraPods");
    check("", full, "InProgress: current: 0/3 | LessCurrent");
    let mixed = format!("{full}, currentReplicas: 3, currentRevision: a, updateRevision: b");
    let expected = "InProgress: Waiting for updated revision to match current | RevisionMismatch";
    check("", &mixed, expected);
    let done = format!("{full}, currentReplicas: 3");
    check("", &done, "Current: All replicas scheduled as expected. Replicas: 3");
    let partition = "updateStrategy: {rollingUpdate: {partition: 1}}";
    let partial = format!("{full}, updatedReplicas: 1");
    check(partition, &partial, "InProgress: updated: 1/2 | PartitionRollout");
    let partial = format!("{full}, updatedReplicas: 2");
    check(partition, &partial, "Current: Partition rollout complete. updated: 2");
}

#[test]
fn daemon_sets() {
    let kind = "apps/v1/DaemonSet";
    check(kind, "spec: {}", "InProgress: DaemonSet metadata.generation not found | NoGeneration");
    let unseen = "InProgress: DaemonSet status.observedGeneration not found | NoObservedGeneration";
    check(kind, "metadata: {generation: 1}", unseen);
    for (status, expected) in [
        ("", "InProgress: Missing .status.desiredNumberScheduled | NoDesiredNumber"),
        ("desiredNumberScheduled: 1", "InProgress: Current: 0/1 | LessCurrent"),
        (
            "desiredNumberScheduled: 1, currentNumberScheduled: 1",
            "InProgress: Updated: 0/1 | LessUpdated",
        ),
        (
            "desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1",
            "InProgress: Available: 0/1 | LessAvailable",
        ),
        (
            "desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1",
            "InProgress: Ready: 0/1 | LessReady",
        ),
        ("desiredNumberScheduled: 0", "Current: All replicas scheduled as expected. Replicas: 0"),
    ] {
        let fields =
            format!("metadata: {{generation: 1}}, status: {{observedGeneration: 1, {status}}}");
        check(kind, &fields, expected);
    }
}

#[test]
fn pods() {
    let pod = |fields: &str, expected: &str| check("v1/Pod", fields, expected);
    pod("status: {phase: Succeeded}", "Current: Pod has completed successfully");
    pod("status: {phase: Failed}", "Current: Pod has completed, but not successfully");
    pod("status: {}", "InProgress: Pod phase not available | PodNotObserved");
    pod("status: {phase: Asleep}", "error: unknown phase Asleep");
    let ready = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}";
    pod(ready, "Current: Pod is Ready");
    let running = "InProgress: Pod is running but is not Ready | PodRunningNotReady";
    pod("status: {phase: Running}", running);
    let looping = "status: {phase: Running, containerStatuses: [
        {name: a, state: {waiting: {reason: CrashLoopBackOff}}}, {name: b, state: {running: {}}},
        {name: c, state: {waiting: {reason: CrashLoopBackOff}}}]}";
    pod(looping, "Failed: Containers in CrashLoop state: a,c | ContainerCrashLooping");
    let malformed = "error: status.containerStatuses does not have the expected structure";
    pod("status: {phase: Running, containerStatuses: [1]}", malformed);
    pod("status: {phase: Pending}", "InProgress: Pod is in the Pending phase | PodPending");
    let unschedulable = |created: &str| {
        format!(
            "metadata: {{creationTimestamp: '{created}'}}, status: {{phase: Pending, conditions: [
            {{type: PodScheduled, status: 'False', reason: Unschedulable}}]}}"
        )
    };
    let young = "InProgress: Pod has not been scheduled | PodNotScheduled";
    pod(&unschedulable("2025-01-01T00:00:46Z"), young);
    let old = "Failed: Pod could not be scheduled | PodUnschedulable";
    pod(&unschedulable("2025-01-01T00:00:45Z"), old);
    pod(&unschedulable("some day"), old);
}

#[test]
fn jobs_to_the_library_and_to_those_who_wait() {
    let ended = |kind: &str| {
        format!(
            "spec: {{completions: 4}}, status: {{failed: 1, succeeded: 3,
            conditions: [{{type: {kind}, status: 'True'}}]}}"
        )
    };
    let running = "status: {startTime: '2025-01-01T00:00:00Z', active: 2}".to_owned();
    let suspended =
        "spec: {suspend: true}, status: {conditions: [{type: Suspended, status: 'True'}]}"
            .to_owned();
    let progress = "Job in progress. success:0, active: 2, failed: 0";
    let unstarted = "InProgress: Job not started | JobNotStarted";
    for (fields, library, waiting) in [
        (ended("Complete"), "Current: Job Completed. succeeded: 3/4", ""),
        (ended("Failed"), "Failed: Job Failed. failed: 1/4 | JobFailed", ""),
        (
            "spec: {parallelism: 2}".to_owned(),
            unstarted,
            "InProgress: Job not started. active: 0/2 | JobNotStarted",
        ),
        (
            running,
            &format!("Current: {progress}"),
            &format!("InProgress: {progress} | JobInProgress"),
        ),
        (suspended, unstarted, "Current: Job is suspended"),
    ] {
        let object = format!("{{apiVersion: batch/v1, kind: Job, {fields}}}");
        check_by(assess, &object, library);
        check_by(assess_job, &object, if waiting.is_empty() { library } else { waiting });
    }
    let behind = "{apiVersion: batch/v1, kind: Job, metadata: {generation: 2},
        status: {observedGeneration: 1}}";
    check_by(assess_job, behind, "InProgress: Job not started. active: 0/1 | JobNotStarted");
}
