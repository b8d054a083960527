//! Which checks a kind has.

use flumen_schema::api::ApiKind;
use serde_json::Value;

use super::report::Report;
use super::{
    admission, autoscaling, batch, claims, cluster, core, discovery, events, networking, pod,
    pod_update, rbac, services, storage, workloads,
};

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

const ADMISSION: &str = "admissionregistration.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const STORAGE: &str = "storage.k8s.io";

static RULES: &[Rules] = &[
    rule("", "ConfigMap", core::config_map, core::config_map_update),
    rule("", "Endpoints", services::endpoints, services::endpoints_update),
    rule("", "Event", events::core, events::core_update),
    rule("events.k8s.io", "Event", events::own_group, events::own_group_update),
    rule("", "LimitRange", cluster::limit_range, cluster::limit_range_update),
    with(
        rule("", "Node", cluster::node, cluster::node_update),
        &[("status", cluster::node_status)],
    ),
    with(
        rule("", "ResourceQuota", cluster::quota, cluster::quota_update),
        &[("status", cluster::quota_status)],
    ),
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
    with(
        rule(
            "autoscaling",
            "HorizontalPodAutoscaler",
            autoscaling::autoscaler,
            autoscaling::autoscaler_update,
        ),
        &[("status", autoscaling::autoscaler_status)],
    ),
    rule("coordination.k8s.io", "Lease", cluster::lease, cluster::lease_update),
    rule("discovery.k8s.io", "EndpointSlice", discovery::slice, discovery::slice_update),
    with(
        rule(NETWORKING, "Ingress", networking::ingress, networking::ingress_update),
        &[("status", networking::ingress_status)],
    ),
    rule(NETWORKING, "IngressClass", networking::ingress_class, networking::ingress_class_update),
    rule(NETWORKING, "IPAddress", networking::ip_address, networking::ip_address_update),
    rule(
        NETWORKING,
        "NetworkPolicy",
        networking::network_policy,
        networking::network_policy_update,
    ),
    rule(NETWORKING, "ServiceCIDR", networking::service_cidr, networking::service_cidr_update),
    rule("node.k8s.io", "RuntimeClass", cluster::runtime_class, cluster::runtime_class_update),
    with(
        rule(
            "policy",
            "PodDisruptionBudget",
            cluster::disruption_budget,
            cluster::disruption_budget_update,
        ),
        &[("status", cluster::disruption_budget_status)],
    ),
    rule(RBAC, "Role", rbac::role, rbac::role_update),
    rule(RBAC, "ClusterRole", rbac::cluster_role, rbac::cluster_role_update),
    rule(RBAC, "RoleBinding", rbac::role_binding, rbac::role_binding_update),
    rule(RBAC, "ClusterRoleBinding", rbac::cluster_role_binding, rbac::cluster_role_binding_update),
    rule(
        "scheduling.k8s.io",
        "PriorityClass",
        cluster::priority_class,
        cluster::priority_class_update,
    ),
    rule(STORAGE, "CSIDriver", storage::driver, storage::driver_update),
    rule(STORAGE, "CSINode", storage::node, storage::node_update),
    rule(STORAGE, "CSIStorageCapacity", storage::capacity, storage::capacity_update),
    rule(STORAGE, "StorageClass", storage::class, storage::class_update),
    rule(STORAGE, "VolumeAttachment", storage::attachment, storage::attachment_update),
    rule(
        STORAGE,
        "VolumeAttributesClass",
        storage::attributes_class,
        storage::attributes_class_update,
    ),
    rule(
        ADMISSION,
        "MutatingWebhookConfiguration",
        admission::webhooks,
        admission::webhooks_update,
    ),
    rule(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        admission::webhooks,
        admission::webhooks_update,
    ),
    with(
        rule(
            ADMISSION,
            "ValidatingAdmissionPolicy",
            admission::validating_policy,
            admission::validating_policy_update,
        ),
        &[("status", admission::policy_status)],
    ),
    rule(
        ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        admission::validating_binding,
        admission::validating_binding_update,
    ),
];
