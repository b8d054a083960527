//! Which kinds have a rule of their own.

mod jobs;
mod plain;
mod pods;
mod workloads;

use flumen_object::Gvk;

use crate::{Error, Health, facts::Facts};

pub use jobs::assess_job;

/// Judges an object to which no rule for every object applies; `None` for kinds without a rule.
pub(crate) fn judge(gvk: &Gvk, facts: &Facts<'_>) -> Result<Option<Health>, Error> {
    Ok(Some(match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Secret" | "ConfigMap") | ("batch", "CronJob") => plain::always_ready(),
        ("", "Service") => plain::service(facts),
        ("", "PersistentVolumeClaim") => plain::claim(facts),
        ("", "Pod") => pods::pod(facts)?,
        ("apps" | "extensions", "Deployment") => workloads::deployment(facts),
        ("apps" | "extensions", "ReplicaSet") => workloads::replica_set(facts),
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set(facts),
        ("apps", "StatefulSet") => workloads::stateful_set(facts),
        ("batch", "Job") => jobs::job(facts),
        ("policy", "PodDisruptionBudget") => plain::disruption_budget(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => plain::definition(facts),
        _ => return Ok(None),
    }))
}
