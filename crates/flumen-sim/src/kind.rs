//! The kinds that controllers look at, and names of their objects.

use flumen_apiserver::ResourceName;
use serde_json::Value;

use crate::object;

/// A built-in kind that some controller reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    ClusterRole,
    ConfigMap,
    ControllerRevision,
    CronJob,
    DaemonSet,
    Deployment,
    EndpointSlice,
    Endpoints,
    Event,
    Ingress,
    Job,
    Lease,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Service,
    ServiceAccount,
    StatefulSet,
    StorageClass,
}

/// Kind, group, version, plural, name of the kind.
const KINDS: &[(Kind, &str, &str, &str, &str)] = &[
    (Kind::ClusterRole, "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole"),
    (Kind::ConfigMap, "", "v1", "configmaps", "ConfigMap"),
    (Kind::ControllerRevision, "apps", "v1", "controllerrevisions", "ControllerRevision"),
    (Kind::CronJob, "batch", "v1", "cronjobs", "CronJob"),
    (Kind::DaemonSet, "apps", "v1", "daemonsets", "DaemonSet"),
    (Kind::Deployment, "apps", "v1", "deployments", "Deployment"),
    (Kind::EndpointSlice, "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
    (Kind::Endpoints, "", "v1", "endpoints", "Endpoints"),
    (Kind::Event, "", "v1", "events", "Event"),
    (Kind::Ingress, "networking.k8s.io", "v1", "ingresses", "Ingress"),
    (Kind::Job, "batch", "v1", "jobs", "Job"),
    (Kind::Lease, "coordination.k8s.io", "v1", "leases", "Lease"),
    (Kind::Namespace, "", "v1", "namespaces", "Namespace"),
    (Kind::Node, "", "v1", "nodes", "Node"),
    (Kind::PersistentVolume, "", "v1", "persistentvolumes", "PersistentVolume"),
    (Kind::PersistentVolumeClaim, "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    (Kind::Pod, "", "v1", "pods", "Pod"),
    (Kind::PodDisruptionBudget, "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
    (Kind::ReplicaSet, "apps", "v1", "replicasets", "ReplicaSet"),
    (Kind::ReplicationController, "", "v1", "replicationcontrollers", "ReplicationController"),
    (Kind::ResourceQuota, "", "v1", "resourcequotas", "ResourceQuota"),
    (Kind::Service, "", "v1", "services", "Service"),
    (Kind::ServiceAccount, "", "v1", "serviceaccounts", "ServiceAccount"),
    (Kind::StatefulSet, "apps", "v1", "statefulsets", "StatefulSet"),
    (Kind::StorageClass, "storage.k8s.io", "v1", "storageclasses", "StorageClass"),
];

impl Kind {
    fn facts(self) -> &'static (Self, &'static str, &'static str, &'static str, &'static str) {
        // The table has the order of the variants.
        &KINDS[self as usize]
    }

    pub(crate) fn resource(self) -> ResourceName<'static> {
        let (_, group, version, plural, _) = self.facts();
        ResourceName::new(group, version, plural)
    }

    pub(crate) fn name(self) -> &'static str {
        self.facts().4
    }

    pub(crate) fn api_version(self) -> String {
        let (_, group, version, ..) = self.facts();
        if group.is_empty() { (*version).to_owned() } else { format!("{group}/{version}") }
    }

    /// The kind whose objects are stored in a place.
    pub(crate) fn stored_as(group: &str, plural: &str) -> Option<Self> {
        KINDS.iter().find(|(_, g, _, p, _)| *g == group && *p == plural).map(|(kind, ..)| *kind)
    }

    /// The kind that an object or a reference names.
    pub(crate) fn of(object: &Value) -> Option<Self> {
        let group = object::text(object, "/apiVersion").split_once('/').map_or("", |(g, _)| g);
        let name = object::text(object, "/kind");
        KINDS.iter().find(|(_, g, _, _, n)| *g == group && *n == name).map(|(kind, ..)| *kind)
    }
}

/// Which object is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    pub(crate) kind: Kind,
    /// Empty for what is in none.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Id {
    pub(crate) fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn of(kind: Kind, object: &Value) -> Self {
        Self::new(kind, object::namespace(object), object::name(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_the_order_of_the_kinds() {
        for (place, (kind, ..)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, place, "{kind:?}");
        }
    }
}
