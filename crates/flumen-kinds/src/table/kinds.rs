//! The cells of every kind that has a table of its own. A kind added later is one more entry.

use super::cell::Cell::{
    self, Age, Containers, Count, Created, Filled, Flag, Joined, Labels, Many, Name, Number, Of,
    Or, Selector, Text, With,
};
use super::{access, cluster, network, pod, scaling, storage, workload};

/// The cells of a kind, in the order of its columns.
pub(super) fn cells(group: &str, kind: &str) -> &'static [Cell] {
    let found = TABLES.iter().find(|(g, k, _)| *k == kind && *g == group);
    found.map_or(&[Name, Created], |(_, _, cells)| *cells)
}

const TEMPLATE: &str = "spec.template.spec.containers";

#[rustfmt::skip]
const TABLES: &[(&str, &str, &[Cell])] = &[
    ("", "ComponentStatus", &[Name, Many(cluster::component)]),
    ("", "ConfigMap", &[Name, Count(&["data", "binaryData"]), Age]),
    ("", "Endpoints", &[Name, With(network::endpoints), Age]),
    ("", "Event", &[Many(cluster::event)]),
    ("", "Namespace", &[Name, Text("status.phase"), Age]),
    ("", "Node", &[
        Name, With(cluster::node_status), With(cluster::node_roles), Age, Text("status.nodeInfo.kubeletVersion"),
        With(cluster::node_internal_ip), With(cluster::node_external_ip),
        Filled("status.nodeInfo.osImage", "<unknown>"), Filled("status.nodeInfo.kernelVersion", "<unknown>"),
        Filled("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
    ]),
    ("", "PersistentVolume", &[
        Name, With(storage::volume_size), With(storage::volume_modes), Text("spec.persistentVolumeReclaimPolicy"),
        With(storage::phase), With(storage::claim), With(storage::class),
        Or("spec.volumeAttributesClassName", "<unset>"), Text("status.reason"), Age, Or("spec.volumeMode", "<unset>"),
    ]),
    ("", "PersistentVolumeClaim", &[
        Name, With(storage::phase), Text("spec.volumeName"), With(storage::claim_size), With(storage::claim_modes),
        With(storage::class), Or("spec.volumeAttributesClassName", "<unset>"), Age, Or("spec.volumeMode", "<unset>"),
    ]),
    ("", "Pod", &[
        Name, Many(pod::summary), Age, With(pod::ip), Filled("spec.nodeName", "<none>"),
        Filled("status.nominatedNodeName", "<none>"), With(pod::readiness_gates),
    ]),
    ("", "PodTemplate", &[Name, Containers("template.spec.containers"), Labels("template.metadata.labels")]),
    ("", "ReplicationController", &[
        Name, Number("spec.replicas"), Number("status.replicas"), Number("status.readyReplicas"), Age,
        Containers(TEMPLATE), Labels("spec.selector"),
    ]),
    ("", "ResourceQuota", &[Name, Many(cluster::quota), Age]),
    ("", "Secret", &[Name, Text("type"), Count(&["data"]), Age]),
    ("", "Service", &[
        Name, Text("spec.type"), With(network::cluster_ip), With(network::external_ip), With(network::service_ports),
        Age, Labels("spec.selector"),
    ]),
    ("", "ServiceAccount", &[Name, Age]),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", &[Name, Count(&["webhooks"]), Age]),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", &[
        Name, Count(&["spec.validations"]), With(access::param_kind), Age,
    ]),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", &[
        Name, Text("spec.policyName"), With(access::param_ref), Age,
    ]),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &[Name, Count(&["webhooks"]), Age]),
    ("apiregistration.k8s.io", "APIService", &[Name, With(cluster::service), With(cluster::available), Age]),
    ("apps", "ControllerRevision", &[Name, With(workload::controller), Number("revision"), Age]),
    ("apps", "DaemonSet", &[
        Name, Number("status.desiredNumberScheduled"), Number("status.currentNumberScheduled"),
        Number("status.numberReady"), Number("status.updatedNumberScheduled"), Number("status.numberAvailable"),
        Labels("spec.template.spec.nodeSelector"), Age, Containers(TEMPLATE), Selector("spec.selector"),
    ]),
    ("apps", "Deployment", &[
        Name, Of("status.readyReplicas", "spec.replicas"), Number("status.updatedReplicas"),
        Number("status.availableReplicas"), Age, Containers(TEMPLATE), With(workload::deployment_selector),
    ]),
    ("apps", "ReplicaSet", &[
        Name, Number("spec.replicas"), Number("status.replicas"), Number("status.readyReplicas"), Age,
        Containers(TEMPLATE), Selector("spec.selector"),
    ]),
    ("apps", "StatefulSet", &[Name, Of("status.readyReplicas", "spec.replicas"), Age, Containers(TEMPLATE)]),
    ("autoscaling", "HorizontalPodAutoscaler", &[
        Name, With(scaling::reference), With(scaling::targets), With(scaling::min_pods), Number("spec.maxReplicas"),
        Number("status.currentReplicas"), Age,
    ]),
    ("autoscaling", "Scale", &[Name, Number("spec.replicas"), Number("status.replicas"), Age]),
    ("apiextensions.k8s.io", "Scale", &[Name, With(scaling::desired), Number("status.replicas"), Age]),
    ("batch", "CronJob", &[
        Name, Text("spec.schedule"), Or("spec.timeZone", "<none>"), With(workload::suspended),
        Count(&["status.active"]), With(workload::last_schedule), Age,
        Containers("spec.jobTemplate.spec.template.spec.containers"), Selector("spec.jobTemplate.spec.selector"),
    ]),
    ("batch", "Job", &[
        Name, With(workload::job_status), With(workload::completions), With(workload::job_duration), Age,
        Containers(TEMPLATE), Selector("spec.selector"),
    ]),
    ("certificates.k8s.io", "CertificateSigningRequest", &[
        Name, Age, Filled("spec.signerName", "<none>"), Text("spec.username"), With(access::requested_duration),
        With(access::request_state),
    ]),
    ("autoscaling", "Scale", &[Name, Number("spec.replicas"), Number("status.replicas"), Age]),
    ("coordination.k8s.io", "Lease", &[Name, Text("spec.holderIdentity"), Age]),
    ("discovery.k8s.io", "EndpointSlice", &[
        Name, Text("addressType"), With(network::slice_ports), With(network::slice_endpoints), Age,
    ]),
    ("events.k8s.io", "Event", &[Many(cluster::event)]),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", &[
        Name, Text("spec.priorityLevelConfiguration.name"), Number("spec.matchingPrecedence"),
        Or("spec.distinguisherMethod.type", "<none>"), Age, With(cluster::dangling),
    ]),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", &[
        Name, Text("spec.type"), Or("spec.limited.nominalConcurrencyShares", "<none>"),
        Or("spec.limited.limitResponse.queuing.queues", "<none>"),
        Or("spec.limited.limitResponse.queuing.handSize", "<none>"),
        Or("spec.limited.limitResponse.queuing.queueLengthLimit", "<none>"), Age,
    ]),
    // The server prints an age that has no column.
    ("networking.k8s.io", "IPAddress", &[Name, With(network::parent), Age]),
    ("networking.k8s.io", "Ingress", &[
        Name, Or("spec.ingressClassName", "<none>"), With(network::hosts), With(network::addresses),
        With(network::ingress_ports), Age,
    ]),
    ("networking.k8s.io", "IngressClass", &[Name, Text("spec.controller"), With(network::parameters), Age]),
    ("networking.k8s.io", "NetworkPolicy", &[Name, Selector("spec.podSelector"), Age]),
    ("networking.k8s.io", "ServiceCIDR", &[Name, Joined("spec.cidrs"), Age]),
    ("node.k8s.io", "RuntimeClass", &[Name, Text("handler"), Age]),
    ("policy", "PodDisruptionBudget", &[
        Name, With(workload::min_available), With(workload::max_unavailable), Number("status.disruptionsAllowed"), Age,
    ]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &[Name, With(access::role), Age, Many(access::subjects)]),
    ("rbac.authorization.k8s.io", "RoleBinding", &[Name, With(access::role), Age, Many(access::subjects)]),
    ("resource.k8s.io", "DeviceClass", &[Name, Age]),
    ("resource.k8s.io", "ResourceClaim", &[Name, With(cluster::claim_state), Age]),
    ("resource.k8s.io", "ResourceClaimTemplate", &[Name, Age]),
    ("resource.k8s.io", "ResourceSlice", &[
        Name, Text("spec.nodeName"), Text("spec.driver"), Text("spec.pool.name"), Age,
    ]),
    ("scheduling.k8s.io", "PriorityClass", &[
        Name, Number("value"), Flag("globalDefault"), Age, Text("preemptionPolicy"),
    ]),
    ("storage.k8s.io", "CSIDriver", &[
        Name, With(storage::attach_required), Flag("spec.podInfoOnMount"), Flag("spec.storageCapacity"),
        With(storage::token_requests), Flag("spec.requiresRepublish"), With(storage::lifecycle_modes), Age,
    ]),
    ("storage.k8s.io", "CSINode", &[Name, Count(&["spec.drivers"]), Age]),
    ("storage.k8s.io", "StorageClass", &[
        With(storage::class_name), Text("provisioner"), Or("reclaimPolicy", "Delete"),
        Or("volumeBindingMode", "Immediate"), Flag("allowVolumeExpansion"), Age,
    ]),
    ("storage.k8s.io", "VolumeAttachment", &[
        Name, Text("spec.attacher"), Text("spec.source.persistentVolumeName"), Text("spec.nodeName"),
        Flag("status.attached"), Age,
    ]),
    ("storage.k8s.io", "VolumeAttributesClass", &[Name, Text("driverName"), Age]),
];

/// The kinds that have cells.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.iter().map(|(group, kind, _)| (*group, *kind))
}
