//! Controllers of pods: what they want against what they count.

use crate::{Health, facts::Facts, fields::int_at};

/// Where one number has not yet reached another.
///
/// Each line of a table is `(have, want, reason, words)`; the first that falls short decides.
type Shortfall = (i64, i64, &'static str, &'static str);

fn first_shortfall(table: &[Shortfall]) -> Option<Health> {
    let (have, want, reason, words) = table.iter().find(|(have, want, ..)| want > have)?;
    Some(Health::in_progress(reason, format!("{words}: {have}/{want}")))
}

/// Pods of an earlier size or an earlier template are still there.
fn surplus(have: i64, want: i64) -> Option<Health> {
    (have > want).then(|| {
        let surplus = have.saturating_sub(want);
        Health::in_progress("ExtraPods", format!("Pending termination: {surplus}"))
    })
}

pub(crate) fn deployment(facts: &Facts<'_>) -> Health {
    let no_deadline = i64::from(i32::MAX);
    let deadline = facts.int(&["spec", "progressDeadlineSeconds"], no_deadline);
    // Without a deadline the controller does not report progress.
    let mut progressing = deadline == no_deadline;
    for condition in facts.conditions.iter().filter(|condition| condition.kind == "Progressing") {
        if condition.reason == "ProgressDeadlineExceeded" {
            let mut health = Health::failed(&condition.reason, "Progress deadline exceeded");
            for stalled in &mut health.conditions {
                stalled.message.clone_from(&condition.message);
            }
            return health;
        }
        progressing |= condition.status == "True" && condition.reason == "NewReplicaSetAvailable";
    }
    let available = facts.condition("Available", "True").is_some();

    let want = facts.replicas();
    let have = facts.count("replicas");
    let updated = facts.count("updatedReplicas");
    let verdict = first_shortfall(&[
        (have, want, "LessReplicas", "Replicas"),
        (updated, want, "LessUpdated", "Updated"),
    ])
    .or_else(|| surplus(have, want))
    .or_else(|| {
        first_shortfall(&[
            (facts.count("availableReplicas"), updated, "LessAvailable", "Available"),
            (facts.count("readyReplicas"), want, "LessReady", "Ready"),
        ])
    });
    match verdict {
        Some(health) => health,
        None if !progressing => {
            Health::in_progress("ReplicaSetNotAvailable", "ReplicaSet not Available")
        }
        None if !available => {
            Health::in_progress("DeploymentNotAvailable", "Deployment not Available")
        }
        None => Health::current(format!("Deployment is available. Replicas: {have}")),
    }
}

pub(crate) fn replica_set(facts: &Facts<'_>) -> Health {
    if facts.condition("ReplicaFailure", "True").is_some() {
        let message = "Replica Failure condition. Check Pods";
        return Health::in_progress("ReplicaFailure", message);
    }
    let want = facts.replicas();
    let have = facts.count("replicas");
    first_shortfall(&[
        (facts.count("fullyLabeledReplicas"), want, "LessLabelled", "Labelled"),
        (facts.count("availableReplicas"), want, "LessAvailable", "Available"),
        (facts.count("readyReplicas"), want, "LessReady", "Ready"),
    ])
    .or_else(|| surplus(have, want))
    .unwrap_or_else(|| Health::current(format!("ReplicaSet is available. Replicas: {have}")))
}

pub(crate) fn stateful_set(facts: &Facts<'_>) -> Health {
    // People delete the pods themselves; nobody can tell when they have done so.
    if facts.text(&["spec", "updateStrategy", "type"]).is_some_and(|kind| kind == "OnDelete") {
        return Health::current("StatefulSet is using the ondelete update strategy");
    }
    let want = facts.replicas();
    let have = facts.count("replicas");
    let unfinished = first_shortfall(&[
        (have, want, "LessReplicas", "Replicas"),
        (facts.count("readyReplicas"), want, "LessReady", "Ready"),
    ])
    .or_else(|| surplus(have, want));
    if let Some(health) = unfinished {
        return health;
    }

    let updated = facts.count("updatedReplicas");
    let partition = facts.int(&["spec", "updateStrategy", "rollingUpdate", "partition"], -1);
    if partition != -1 {
        let beyond = want.saturating_sub(partition);
        let partial = first_shortfall(&[(updated, beyond, "PartitionRollout", "updated")]);
        return partial.unwrap_or_else(|| {
            Health::current(format!("Partition rollout complete. updated: {updated}"))
        });
    }
    let current = facts.count("currentReplicas");
    if let Some(health) = first_shortfall(&[(current, want, "LessCurrent", "current")]) {
        return health;
    }
    let revision = |field| facts.text(&["status", field]).unwrap_or_default();
    if revision("currentRevision") == revision("updateRevision") {
        Health::current(format!("All replicas scheduled as expected. Replicas: {have}"))
    } else {
        let message = "Waiting for updated revision to match current";
        Health::in_progress("RevisionMismatch", message)
    }
}

pub(crate) fn daemon_set(facts: &Facts<'_>) -> Health {
    // A controller that has looked at a daemon set has set these; others may leave them out.
    let numbers = [
        ("NoGeneration", ["metadata", "generation"]),
        ("NoObservedGeneration", ["status", "observedGeneration"]),
    ];
    for (reason, path) in numbers {
        if int_at(facts.object, &path).is_none() {
            let message = format!("DaemonSet {} not found", path.join("."));
            return Health::in_progress(reason, message);
        }
    }
    let want = facts.int(&["status", "desiredNumberScheduled"], -1);
    if want == -1 {
        let message = "Missing .status.desiredNumberScheduled";
        return Health::in_progress("NoDesiredNumber", message);
    }
    first_shortfall(&[
        (facts.count("currentNumberScheduled"), want, "LessCurrent", "Current"),
        (facts.count("updatedNumberScheduled"), want, "LessUpdated", "Updated"),
        (facts.count("numberAvailable"), want, "LessAvailable", "Available"),
        (facts.count("numberReady"), want, "LessReady", "Ready"),
    ])
    .unwrap_or_else(|| {
        Health::current(format!("All replicas scheduled as expected. Replicas: {want}"))
    })
}
