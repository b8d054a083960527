//! Pods.

use flumen_yaml::Node;
use jiff::{SignedDuration, Timestamp};

use crate::{Error, Health, facts::Facts, fields::text};

/// How long a pod may be without a node before that counts as a failure.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

pub(crate) fn pod(facts: &Facts<'_>) -> Result<Health, Error> {
    let phase = facts.text(&["status", "phase"]).unwrap_or_default();
    match &*phase {
        "Succeeded" => Ok(Health::current("Pod has completed successfully")),
        // A pod that has run is done with, however it went: its controller draws the conclusion.
        "Failed" => Ok(Health::current("Pod has completed, but not successfully")),
        "Running" => running(facts),
        "Pending" => Ok(pending(facts)),
        "" => Ok(Health::in_progress("PodNotObserved", "Pod phase not available")),
        other => Err(Error::Phase(other.to_owned())),
    }
}

fn running(facts: &Facts<'_>) -> Result<Health, Error> {
    if facts.condition("Ready", "True").is_some() {
        return Ok(Health::current("Pod is Ready"));
    }
    let looping = crash_looping(facts.object)?;
    Ok(if looping.is_empty() {
        Health::in_progress("PodRunningNotReady", "Pod is running but is not Ready")
    } else {
        let message = format!("Containers in CrashLoop state: {}", looping.join(","));
        Health::failed("ContainerCrashLooping", message)
    })
}

fn pending(facts: &Facts<'_>) -> Health {
    let scheduled = facts.condition("PodScheduled", "False");
    if scheduled.is_none_or(|condition| condition.reason != "Unschedulable") {
        return Health::in_progress("PodPending", "Pod is in the Pending phase");
    }
    let created = facts
        .text(&["metadata", "creationTimestamp"])
        .and_then(|time| time.parse::<Timestamp>().ok());
    if created.is_some_and(|created| facts.now.duration_since(created) < SCHEDULE_WINDOW) {
        Health::in_progress("PodNotScheduled", "Pod has not been scheduled")
    } else {
        Health::failed("PodUnschedulable", "Pod could not be scheduled")
    }
}

/// The names of containers that crash again and again. Those that run before the others start do not count.
fn crash_looping(pod: &Node) -> Result<Vec<String>, Error> {
    let Some(statuses) = pod.at(&["status", "containerStatuses"]) else {
        return Ok(Vec::new());
    };
    let malformed = || Error::ContainerStatuses;
    let mut names = Vec::new();
    for status in statuses.as_seq().ok_or_else(malformed)? {
        let Some(name) = field(status, "name")? else { continue };
        let Some(state) = field(status, "state")? else { continue };
        let Some(waiting) = field(state, "waiting")? else { continue };
        let Some(reason) = field(waiting, "reason")? else { continue };
        let name = text(name).ok_or_else(malformed)?;
        if text(reason).ok_or_else(malformed)? == "CrashLoopBackOff" {
            names.push(name.into_owned());
        }
    }
    Ok(names)
}

fn field<'a>(node: &'a Node, key: &str) -> Result<Option<&'a Node>, Error> {
    node.as_map().map(|map| map.get(key)).ok_or(Error::ContainerStatuses)
}
