//! Which checks a kind has.

use flumen_schema::api::ApiKind;
use serde_json::Value;

use super::report::Report;
use super::{
    admission, admission_policies, api_services, autoscaling, batch, certificates, claims, cluster,
    core, cron_jobs, daemon_sets, devices, discovery, endpoints, events, flowcontrol, job_status,
    networking, pod, pod_update, quotas, rbac, services, stateful_sets, storage, workloads,
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
    const fn with(self, subresources: &'static [(&'static str, Update)]) -> Self {
        Self { subresources, ..self }
    }

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

const ADMISSION: &str = "admissionregistration.k8s.io";
const FLOW: &str = "flowcontrol.apiserver.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const RESOURCE: &str = "resource.k8s.io";
const STORAGE: &str = "storage.k8s.io";

static RULES: &[Rules] = &[
    rule("", "ConfigMap", core::config_map, core::config_map_update),
    rule("", "Endpoints", endpoints::endpoints, endpoints::endpoints_update),
    rule("", "Event", events::core, events::core_update),
    rule("events.k8s.io", "Event", events::own_group, events::own_group_update),
    rule("", "LimitRange", quotas::limit_range, quotas::limit_range_update),
    rule("", "Node", cluster::node, cluster::node_update).with(&[("status", cluster::node_status)]),
    rule("", "ResourceQuota", quotas::quota, quotas::quota_update)
        .with(&[("status", quotas::quota_status)]),
    rule("", "Namespace", core::namespace, core::namespace_update)
        .with(&[("status", core::namespace_status), ("finalize", core::namespace_finalize)]),
    rule("", "PersistentVolume", claims::new_volume, claims::volume_update)
        .with(&[("status", claims::volume_status)]),
    rule("", "PersistentVolumeClaim", claims::claim, claims::claim_update)
        .with(&[("status", claims::claim_status)]),
    rule("", "Pod", pod::create, pod_update::update).with(&[
        ("status", pod_update::status),
        ("ephemeralcontainers", pod_update::ephemeral_containers),
        ("resize", pod_update::resize),
    ]),
    rule("", "PodTemplate", pod::template_object, pod::template_object_update),
    rule(
        "",
        "ReplicationController",
        workloads::replication_controller,
        workloads::replication_controller_update,
    )
    .with(&[("status", workloads::replica_set_status)]),
    rule("", "Secret", core::secret, core::secret_update),
    rule("", "Service", services::service, services::service_update)
        .with(&[("status", services::service_status)]),
    rule("", "ServiceAccount", core::service_account, core::service_account_update),
    rule(
        "apps",
        "ControllerRevision",
        workloads::controller_revision,
        workloads::controller_revision_update,
    ),
    rule("apps", "DaemonSet", daemon_sets::daemon_set, daemon_sets::daemon_set_update)
        .with(&[("status", daemon_sets::daemon_set_status)]),
    rule("apps", "Deployment", workloads::deployment, workloads::deployment_update)
        .with(&[("status", workloads::deployment_status)]),
    rule("apps", "ReplicaSet", workloads::replica_set, workloads::replica_set_update)
        .with(&[("status", workloads::replica_set_status)]),
    rule("apps", "StatefulSet", stateful_sets::stateful_set, stateful_sets::stateful_set_update)
        .with(&[("status", stateful_sets::stateful_set_status)]),
    rule(
        "apiregistration.k8s.io",
        "APIService",
        api_services::service,
        api_services::service_update,
    )
    .with(&[("status", api_services::service_status)]),
    rule("batch", "CronJob", cron_jobs::cron_job, cron_jobs::cron_job_update),
    rule("batch", "Job", batch::job, batch::job_update).with(&[("status", job_status::job_status)]),
    rule(
        "autoscaling",
        "HorizontalPodAutoscaler",
        autoscaling::autoscaler,
        autoscaling::autoscaler_update,
    )
    .with(&[("status", autoscaling::autoscaler_status)]),
    rule(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        certificates::request,
        certificates::request_update,
    )
    .with(&[
        ("status", certificates::request_status),
        ("approval", certificates::request_approval),
    ]),
    rule("coordination.k8s.io", "Lease", cluster::lease, cluster::lease_update),
    rule(FLOW, "FlowSchema", flowcontrol::schema, flowcontrol::schema_update)
        .with(&[("status", flowcontrol::status)]),
    rule(FLOW, "PriorityLevelConfiguration", flowcontrol::level, flowcontrol::level_update)
        .with(&[("status", flowcontrol::status)]),
    rule("discovery.k8s.io", "EndpointSlice", discovery::slice, discovery::slice_update),
    rule(NETWORKING, "Ingress", networking::ingress, networking::ingress_update)
        .with(&[("status", networking::ingress_status)]),
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
    rule(
        "policy",
        "PodDisruptionBudget",
        cluster::disruption_budget,
        cluster::disruption_budget_update,
    )
    .with(&[("status", cluster::disruption_budget_status)]),
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
    rule(RESOURCE, "DeviceClass", devices::class, devices::class_update),
    rule(RESOURCE, "ResourceClaim", devices::claim, devices::claim_update)
        .with(&[("status", devices::claim_status)]),
    rule(RESOURCE, "ResourceClaimTemplate", devices::template, devices::template_update),
    rule(RESOURCE, "ResourceSlice", devices::slice, devices::slice_update),
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
    rule(
        ADMISSION,
        "ValidatingAdmissionPolicy",
        admission_policies::validating_policy,
        admission_policies::validating_policy_update,
    )
    .with(&[("status", admission_policies::policy_status)]),
    rule(
        ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        admission_policies::validating_binding,
        admission_policies::validating_binding_update,
    ),
];
