//! What the server can read besides what it serves: lists, and versions of the past.

use flumen_schema::api::{Api, TypeId};

use super::Head;

/// Versions that are not served any more but still understood, with their kinds.
const PAST: [(&str, &str, &[&str]); 30] = [
    (
        "admissionregistration.k8s.io",
        "v1alpha1",
        &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", "v1beta1", &["CustomResourceDefinition"]),
    ("apps", "v1beta1", &["ControllerRevision", "Deployment", "StatefulSet"]),
    (
        "apps",
        "v1beta2",
        &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
    ),
    ("autoscaling", "v2beta1", &["HorizontalPodAutoscaler"]),
    ("autoscaling", "v2beta2", &["HorizontalPodAutoscaler"]),
    ("batch", "v1beta1", &["CronJob"]),
    ("certificates.k8s.io", "v1beta1", &["CertificateSigningRequest"]),
    ("coordination.k8s.io", "v1beta1", &["Lease"]),
    ("discovery.k8s.io", "v1beta1", &["EndpointSlice"]),
    ("events.k8s.io", "v1beta1", &["Event"]),
    (
        "extensions",
        "v1beta1",
        &["DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet"],
    ),
    ("flowcontrol.apiserver.k8s.io", "v1beta1", FLOW_CONTROL),
    ("flowcontrol.apiserver.k8s.io", "v1beta2", FLOW_CONTROL),
    ("flowcontrol.apiserver.k8s.io", "v1beta3", FLOW_CONTROL),
    ("networking.k8s.io", "v1beta1", &["IPAddress", "Ingress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", "v1alpha1", &["RuntimeClass"]),
    ("node.k8s.io", "v1beta1", &["RuntimeClass"]),
    ("policy", "v1beta1", &["PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io", "v1alpha1", ACCESS),
    ("rbac.authorization.k8s.io", "v1beta1", ACCESS),
    ("resource.k8s.io", "v1beta1", DEVICES),
    ("resource.k8s.io", "v1beta2", DEVICES),
    ("scheduling.k8s.io", "v1alpha1", &["PriorityClass"]),
    ("scheduling.k8s.io", "v1beta1", &["PriorityClass"]),
    ("authentication.k8s.io", "v1beta1", &["SelfSubjectReview", "TokenReview"]),
    (
        "authorization.k8s.io",
        "v1beta1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    (
        "storage.k8s.io",
        "v1alpha1",
        &["CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"],
    ),
    (
        "storage.k8s.io",
        "v1beta1",
        &[
            "CSIDriver",
            "CSINode",
            "CSIStorageCapacity",
            "StorageClass",
            "VolumeAttachment",
            "VolumeAttributesClass",
        ],
    ),
];

const ACCESS: &[&str] = &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
const DEVICES: &[&str] =
    &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"];
const FLOW_CONTROL: &[&str] = &["FlowSchema", "PriorityLevelConfiguration"];

/// What a body says it is.
pub(super) enum Registered {
    /// A kind that is served or that requests are made of.
    Served(TypeId),
    /// A version of the past.
    Past,
    List,
}

/// None for what the server never heard of. Definitions and API services are served by parts of it
/// that know nothing of the rest.
pub(super) fn registered(head: &Head, asked_group: &str) -> Option<Registered> {
    let Head { group, version, kind } = head;
    let is_apart = |group: &str| {
        matches!(group, "apiextensions.k8s.io" | "apiregistration.k8s.io").then(|| group.to_owned())
    };
    let message = Api::get().message(group, version, kind).map(|message| message.object);
    let is_common = message.is_some() && group.is_empty();
    if is_apart(group) != is_apart(asked_group) && !is_common {
        return None;
    }
    let served = Api::get().kind(group, version, kind).map(|kind| kind.object);
    if let Some(of) = served.or(message) {
        return Some(Registered::Served(of));
    }
    let is_past = |(past_group, past_version, kinds): &(&str, &str, &[&str])| {
        past_group == group && past_version == version && kinds.contains(&kind.as_str())
    };
    if PAST.iter().any(is_past) {
        return Some(Registered::Past);
    }
    let of = kind.strip_suffix("List")?;
    let is_list = Api::get().kind(group, version, of).is_some()
        || (group.is_empty() && version == "v1" && of.is_empty());
    is_list.then_some(Registered::List)
}
