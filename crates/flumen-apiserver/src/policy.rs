//! What kinds allow beyond the common rules: entries of tables, not code of kinds.

use crate::{Behaviour, Resource};

/// Kinds that a PUT creates when they are missing, by group and plural.
const CREATED_BY_UPDATE: &[(&str, &str)] = &[
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("events.k8s.io", "events"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

/// Kinds that a PUT must name the version of.
const UPDATED_WITH_VERSION: &[(&str, &str)] = &[
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("policy", "poddisruptionbudgets"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csistoragecapacities"),
    ("storage.k8s.io", "volumeattachments"),
];

/// Kinds whose DELETE answers the object.
const SHOWN_WHEN_DELETED: &[(&str, &str)] = &[
    ("", "namespaces"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "podtemplates"),
    ("", "resourcequotas"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "volumeattachments"),
    ("storage.k8s.io", "volumeattributesclasses"),
];

/// Kinds whose dependents stay when a DELETE says nothing about them.
const ORPHANS_BY_DEFAULT: &[(&str, &str)] = &[("", "replicationcontrollers"), ("batch", "jobs")];

/// Kinds that never have dependents.
const WITHOUT_DEPENDENTS: &[(&str, &str)] = &[("", "events"), ("events.k8s.io", "events")];

fn contains(table: &[(&str, &str)], resource: &Resource) -> bool {
    let is_custom = !matches!(resource.behaviour, Behaviour::Builtin { .. });
    !is_custom && table.contains(&(&*resource.group, &*resource.plural))
}

pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    contains(CREATED_BY_UPDATE, resource)
}

pub(crate) fn updates_without_version(resource: &Resource) -> bool {
    matches!(resource.behaviour, Behaviour::Builtin { .. })
        && !contains(UPDATED_WITH_VERSION, resource)
}

pub(crate) fn shows_deleted(resource: &Resource) -> bool {
    contains(SHOWN_WHEN_DELETED, resource)
}

/// What happens to the dependents of a deleted object when the request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dependents {
    Delete,
    Orphan,
    /// There are none.
    Unsupported,
}

pub(crate) fn dependents(resource: &Resource) -> Dependents {
    if contains(WITHOUT_DEPENDENTS, resource) {
        Dependents::Unsupported
    } else if contains(ORPHANS_BY_DEFAULT, resource) {
        Dependents::Orphan
    } else {
        Dependents::Delete
    }
}

/// Whether objects get time to end: pods.
pub(crate) fn is_graceful(resource: &Resource) -> bool {
    contains(&[("", "pods")], resource)
}
