//! Which checks a kind has.

use flumen_schema::api::ApiKind;
use serde_json::Value;

use super::report::Report;
use super::{batch, claims, core, pod, pod_update, services, workloads};

pub(super) type Create = fn(&mut Report, &Value);
pub(super) type Update = fn(&mut Report, &Value, &Value);

pub(super) struct Rules {
    group: &'static str,
    kind: &'static str,
    pub(super) create: Create,
    pub(super) update: Update,
    subresources: &'static [(&'static str, Update)],
}

impl Rules {
    pub(super) fn subresource(&self, name: &str) -> Option<Update> {
        self.subresources.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
    }
}

pub(super) fn of(kind: &ApiKind) -> Option<&'static Rules> {
    RULES.iter().find(|rules| rules.kind == kind.kind && rules.group == kind.group)
}

const fn rule(group: &'static str, kind: &'static str, create: Create, update: Update) -> Rules {
    Rules { group, kind, create, update, subresources: &[] }
}

const fn with(rules: Rules, subresources: &'static [(&'static str, Update)]) -> Rules {
    Rules { subresources, ..rules }
}

static RULES: &[Rules] = &[
    rule("", "ConfigMap", core::config_map, core::config_map_update),
    rule("", "Endpoints", services::endpoints, services::endpoints_update),
    with(
        rule("", "Namespace", core::namespace, core::namespace_update),
        &[("status", core::namespace_status), ("finalize", core::namespace_finalize)],
    ),
    with(
        rule("", "PersistentVolume", claims::volume, claims::volume_update),
        &[("status", claims::volume_status)],
    ),
    with(
        rule("", "PersistentVolumeClaim", claims::claim, claims::claim_update),
        &[("status", claims::claim_status)],
    ),
    with(
        rule("", "Pod", pod::create, pod_update::update),
        &[
            ("status", pod_update::status),
            ("ephemeralcontainers", pod_update::ephemeral_containers),
            ("resize", pod_update::resize),
        ],
    ),
    rule("", "PodTemplate", pod::template_object, pod::template_object_update),
    with(
        rule(
            "",
            "ReplicationController",
            workloads::replication_controller,
            workloads::replication_controller_update,
        ),
        &[("status", workloads::replica_set_status)],
    ),
    rule("", "Secret", core::secret, core::secret_update),
    with(
        rule("", "Service", services::service, services::service_update),
        &[("status", services::service_status)],
    ),
    rule("", "ServiceAccount", core::service_account, core::service_account_update),
    rule(
        "apps",
        "ControllerRevision",
        workloads::controller_revision,
        workloads::controller_revision_update,
    ),
    with(
        rule("apps", "DaemonSet", workloads::daemon_set, workloads::daemon_set_update),
        &[("status", workloads::daemon_set_status)],
    ),
    with(
        rule("apps", "Deployment", workloads::deployment, workloads::deployment_update),
        &[("status", workloads::deployment_status)],
    ),
    with(
        rule("apps", "ReplicaSet", workloads::replica_set, workloads::replica_set_update),
        &[("status", workloads::replica_set_status)],
    ),
    with(
        rule("apps", "StatefulSet", workloads::stateful_set, workloads::stateful_set_update),
        &[("status", workloads::stateful_set_status)],
    ),
    rule("batch", "CronJob", batch::cron_job, batch::cron_job_update),
    with(rule("batch", "Job", batch::job, batch::job_update), &[("status", batch::job_status)]),
];
