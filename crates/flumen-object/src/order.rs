//! The order in which objects are applied: what others need comes first.

use std::cmp::Ordering;

use crate::{ObjectId, ObjectSet};

/// Kinds that others stand on, in this order. Groups do not matter.
const FIRST: [&str; 23] = [
    "CustomResourceDefinition",
    "Namespace",
    "ClusterRole",
    "ClusterClass",
    "RuntimeClass",
    "PriorityClass",
    "StorageClass",
    "VolumeSnapshotClass",
    "IngressClass",
    "GatewayClass",
    "ClusterRoleBinding",
    "ResourceQuota",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ConfigMap",
    "Secret",
    "Service",
    "LimitRange",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that would get in the way of others.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

impl ObjectId {
    /// Where the kind stands in the order of applying; kinds that nothing stands on share one place.
    pub fn apply_rank(&self) -> usize {
        rank(&self.gvk.kind)
    }

    /// Compares by the order of applying. Versions do not matter.
    pub fn cmp_for_apply(&self, other: &Self) -> Ordering {
        self.apply_rank()
            .cmp(&other.apply_rank())
            .then_with(|| self.gvk.group.as_str().cmp(other.gvk.group.as_str()))
            .then_with(|| self.gvk.kind.as_str().cmp(other.gvk.kind.as_str()))
            .then_with(|| self.namespace.as_str().cmp(other.namespace.as_str()))
            .then_with(|| self.name.as_str().cmp(other.name.as_str()))
    }

    /// Compares by the order of deleting, the exact reverse: what others stand on goes last.
    pub fn cmp_for_delete(&self, other: &Self) -> Ordering {
        other.cmp_for_apply(self)
    }
}

impl ObjectSet {
    /// The same objects in the order of applying; equal ones keep theirs.
    #[must_use]
    pub fn in_apply_order(self) -> Self {
        let mut keyed: Vec<_> = self.into_iter().map(|object| (object.id(), object)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.cmp_for_apply(b));
        keyed.into_iter().map(|(_, object)| object).collect()
    }
}

fn rank(kind: &str) -> usize {
    let first = FIRST.iter().position(|first| *first == kind);
    let last = || LAST.iter().position(|last| *last == kind).map(|index| FIRST.len() + 1 + index);
    first.or_else(last).unwrap_or(FIRST.len())
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Text;

    use super::*;
    use crate::Gvk;

    fn id(api_version: &'static str, kind: &'static str, namespace: &str, name: &str) -> ObjectId {
        ObjectId {
            gvk: Gvk::new(&Text::literal(api_version), Text::literal(kind)),
            namespace: Text::from(namespace),
            name: Text::from(name),
        }
    }

    #[test]
    fn definitions_come_first_and_webhooks_last() {
        let ordered = [
            id("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "z"),
            id("v1", "Namespace", "", "z"),
            id("v1", "ConfigMap", "b", "a"),
            id("v1", "Service", "a", "a"),
            id("serving.knative.dev/v1", "Service", "a", "a"),
            id("apps/v1", "Deployment", "a", "a"),
            id("apps/v1", "DaemonSet", "a", "a"),
            id("apps/v1", "DaemonSet", "a", "b"),
            id("apps/v1", "DaemonSet", "b", "a"),
            id("apps/v1", "ReplicaSet", "a", "a"),
            id("batch/v1", "Job", "a", "a"),
            id("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "a"),
            id("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "a"),
        ];
        let mut shuffled = ordered.clone();
        shuffled.reverse();
        shuffled.sort_by(ObjectId::cmp_for_apply);
        assert_eq!(shuffled, ordered);
        shuffled.sort_by(ObjectId::cmp_for_delete);
        assert!(shuffled.iter().rev().eq(&ordered));
    }
}
