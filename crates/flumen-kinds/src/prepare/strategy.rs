//! How the server treats the objects of each kind.

use flumen_schema::api::ApiKind;
use serde_json::Value;

use super::{devices, pods, services, single};
use crate::read::Read;

#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(super) struct Strategy {
    group: &'static str,
    kind: &'static str,
    /// It has a status that a client cannot set with the object itself.
    pub(super) has_status: bool,
    /// It keeps its status in an update, but may be created with one.
    pub(super) keeps_status: bool,
    pub(super) generation: Generation,
    creates_on_update: bool,
    needs_version: bool,
    pub(super) create: fn(&mut Value, &str),
    pub(super) update: fn(&mut Value, &Value),
}

/// What counts as a change of what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    Uncounted,
    /// Counted from one, but nothing adds to it.
    Constant,
    Field(&'static str),
    /// The spec or an annotation, which controllers of Deployments read too.
    SpecOrAnnotations,
    /// Anything but metadata, or labels.
    AllButMeta,
}

impl Generation {
    pub(super) fn grows(self, new: &Value, old: &Value) -> bool {
        let meta = |field: &str| new.part("metadata").map(field) != old.part("metadata").map(field);
        match self {
            Self::Uncounted | Self::Constant => false,
            Self::Field(field) => new.part(field) != old.part(field),
            Self::SpecOrAnnotations => new.part("spec") != old.part("spec") || meta("annotations"),
            Self::AllButMeta => meta("labels") || differs(new, old) || differs(old, new),
        }
    }
}

fn differs(one: &Value, other: &Value) -> bool {
    let ignored = ["metadata", "kind", "apiVersion"];
    one.as_object().is_some_and(|fields| {
        fields.iter().any(|(name, value)| {
            !ignored.contains(&name.as_str()) && other.get(name).unwrap_or(&Value::Null) != value
        })
    })
}

const SPEC: Generation = Generation::Field("spec");

static PLAIN: Strategy = kind("", "");

const fn kind(group: &'static str, kind: &'static str) -> Strategy {
    Strategy {
        group,
        kind,
        has_status: false,
        keeps_status: false,
        generation: Generation::Uncounted,
        creates_on_update: false,
        needs_version: false,
        create: |_, _| {},
        update: |_, _| {},
    }
}

impl Strategy {
    const fn status(self) -> Self {
        Self { has_status: true, ..self }
    }
    const fn counted(self, generation: Generation) -> Self {
        Self { generation, ..self }
    }
    const fn upsert(self) -> Self {
        Self { creates_on_update: true, ..self }
    }
    const fn versioned(self) -> Self {
        Self { needs_version: true, ..self }
    }
    const fn prepared(self, create: fn(&mut Value, &str), update: fn(&mut Value, &Value)) -> Self {
        Self { create, update, ..self }
    }
}

const APPS: &str = "apps";
const ADMISSION: &str = "admissionregistration.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const STORAGE: &str = "storage.k8s.io";
const FLOW: &str = "flowcontrol.apiserver.k8s.io";
const RESOURCE: &str = "resource.k8s.io";

static STRATEGIES: &[Strategy] = &[
    kind("", "Endpoints").upsert(),
    kind("", "Event").upsert(),
    kind("events.k8s.io", "Event").upsert(),
    kind("", "LimitRange").upsert().prepared(single::limit_range, |_, _| {}),
    kind("", "Namespace").status().prepared(single::namespace, single::namespace_update),
    Strategy { keeps_status: true, ..kind("", "Node") }.prepared(single::node, single::node_update),
    kind("", "PersistentVolume").status().prepared(single::volume, |_, _| {}),
    kind("", "PersistentVolumeClaim").status().prepared(single::claim, single::claim_update),
    kind("", "Pod").status().counted(SPEC).prepared(pods::create, |_, _| {}),
    kind("", "PodTemplate").counted(Generation::Field("template")),
    kind("", "ReplicationController").status().counted(SPEC),
    kind("", "ResourceQuota").status(),
    kind("", "Secret").prepared(|_, _| {}, single::secret_update),
    kind("", "ServiceAccount")
        .prepared(single::service_account, |new, _| single::service_account(new, "")),
    kind("", "Service").status().upsert().prepared(services::create, services::update),
    kind(APPS, "DaemonSet")
        .status()
        .counted(SPEC)
        .prepared(single::daemon_set, single::daemon_set_update),
    kind(APPS, "Deployment").status().counted(Generation::SpecOrAnnotations),
    kind(APPS, "ReplicaSet").status().counted(SPEC),
    kind(APPS, "StatefulSet").status().counted(SPEC),
    kind("apiextensions.k8s.io", "CustomResourceDefinition").versioned(),
    kind("apiregistration.k8s.io", "APIService")
        .status()
        .versioned()
        .prepared(single::api_service, |_, _| {}),
    kind("autoscaling", "HorizontalPodAutoscaler").status(),
    kind("batch", "CronJob").status().counted(SPEC),
    kind("batch", "Job").status().counted(SPEC).prepared(single::job, |_, _| {}),
    kind("certificates.k8s.io", "CertificateSigningRequest")
        .status()
        .prepared(single::signing_request, single::signing_request_update),
    kind("certificates.k8s.io", "ClusterTrustBundle").versioned(),
    kind("certificates.k8s.io", "PodCertificateRequest").status().versioned(),
    kind("coordination.k8s.io", "Lease")
        .upsert()
        .versioned()
        .prepared(single::lease, single::lease_update),
    kind("coordination.k8s.io", "LeaseCandidate").upsert().versioned(),
    kind("discovery.k8s.io", "EndpointSlice").counted(Generation::AllButMeta),
    kind(FLOW, "FlowSchema").status().counted(SPEC),
    kind(FLOW, "PriorityLevelConfiguration").status().counted(SPEC),
    kind(NETWORKING, "Ingress").status().counted(SPEC),
    kind(NETWORKING, "IngressClass").counted(SPEC),
    kind(NETWORKING, "NetworkPolicy").counted(SPEC),
    kind(NETWORKING, "ServiceCIDR").status(),
    kind("node.k8s.io", "RuntimeClass").upsert().versioned(),
    kind("policy", "PodDisruptionBudget").status().counted(SPEC).versioned(),
    kind(RBAC, "ClusterRole").upsert(),
    kind(RBAC, "ClusterRoleBinding").upsert(),
    kind(RBAC, "Role").upsert(),
    kind(RBAC, "RoleBinding").upsert(),
    kind(RESOURCE, "DeviceClass")
        .counted(SPEC)
        .prepared(|new, _| devices::class(new), |new, _| devices::class(new)),
    kind(RESOURCE, "DeviceTaintRule").counted(SPEC),
    kind(RESOURCE, "ResourceClaim")
        .status()
        .prepared(|new, _| devices::claim(new), |new, _| devices::claim(new)),
    kind(RESOURCE, "ResourceClaimTemplate")
        .prepared(|new, _| devices::template(new), |new, _| devices::template(new)),
    kind(RESOURCE, "ResourceSlice")
        .counted(SPEC)
        .prepared(|new, _| devices::slice(new), |new, _| devices::slice(new)),
    kind("scheduling.k8s.io", "PriorityClass").counted(Generation::Constant),
    kind(STORAGE, "CSIDriver").versioned().prepared(|_, _| {}, single::driver_update),
    kind(STORAGE, "CSINode").versioned(),
    kind(STORAGE, "CSIStorageCapacity").versioned(),
    kind(STORAGE, "VolumeAttachment").status().versioned(),
    kind(ADMISSION, "MutatingWebhookConfiguration")
        .counted(Generation::Field("webhooks"))
        .versioned(),
    kind(ADMISSION, "ValidatingWebhookConfiguration")
        .counted(Generation::Field("webhooks"))
        .versioned(),
    kind(ADMISSION, "ValidatingAdmissionPolicy").status().counted(SPEC).versioned(),
    kind(ADMISSION, "ValidatingAdmissionPolicyBinding").counted(SPEC).versioned(),
    kind(ADMISSION, "MutatingAdmissionPolicy").counted(SPEC).versioned(),
    kind(ADMISSION, "MutatingAdmissionPolicyBinding").counted(SPEC).versioned(),
];

pub(super) fn of(kind: &ApiKind) -> &'static Strategy {
    let found = STRATEGIES.iter().find(|s| s.kind == kind.kind && s.group == kind.group);
    found.unwrap_or(&PLAIN)
}

/// Whether a PUT of an object that is not there creates it.
pub fn creates_on_update(kind: &ApiKind) -> bool {
    of(kind).creates_on_update
}

/// Whether a PUT without a resource version overwrites what is there.
pub fn updates_without_version(kind: &ApiKind) -> bool {
    !of(kind).needs_version
}

/// Whether an update that gives a list or map with nothing in it is counted as a change, every time. The real
/// server compares these kinds with what it has stored, in which there are none.
pub fn counts_empty(kind: &ApiKind) -> bool {
    matches!(
        kind.kind,
        "NetworkPolicy" | "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    )
}

type FieldPath = &'static [&'static str];

/// The fields that an endpoint of a kind takes from what is stored, whatever is sent. An empty name
/// is the kind itself. Nobody becomes a manager of them there.
pub fn reset_fields(kind: &ApiKind, subresource: &str) -> &'static [FieldPath] {
    const STATUS: &[FieldPath] = &[&["status"]];
    const SPEC_ONLY: &[FieldPath] = &[&["spec"]];
    const SPEC_AND_META: &[FieldPath] = &[&["metadata"], &["spec"]];
    let strategy = of(kind);
    match (kind.kind, subresource) {
        ("CertificateSigningRequest", "") => &[&["spec"], &["status"]],
        ("CertificateSigningRequest", "status") => &[&["spec"], &["status", "conditions"]],
        ("CertificateSigningRequest", "approval") => &[&["spec"], &["status", "certificate"]],
        (_, "") if strategy.has_status || strategy.keeps_status => STATUS,
        ("Namespace", "finalize") => STATUS,
        ("Deployment", "status") => &[&["spec"], &["metadata", "labels"]],
        ("Pod", "status") => {
            &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]
        }
        (
            "APIService"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "ResourceClaim"
            | "DeviceTaintRule"
            | "VolumeAttachment"
            | "StorageVersionMigration"
            | "ValidatingAdmissionPolicy",
            "status",
        ) => SPEC_AND_META,
        (_, "status") => SPEC_ONLY,
        _ => &[],
    }
}
