//! What kinds allow beyond the common rules: entries of tables, not code of kinds.

use crate::{Behaviour, Resource};

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
