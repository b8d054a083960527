//! Fields of objects: which ones only servers write, and the order in which they are compared.

use flumen_yaml::{Entry, Map};

/// What servers write into `metadata` on their own.
pub(crate) const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The fields of a mapping by their names.
pub(crate) fn sorted(map: &Map) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = map.iter().collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}
