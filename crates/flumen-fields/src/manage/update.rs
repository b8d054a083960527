//! Writes of whole objects: create, replace, patch.

use std::sync::LazyLock;

use serde_json::Value;

use super::{
    Write,
    cap::merge_oldest,
    managed_fields,
    managers::{Entry, Id, Managers, Operation, is_reset},
    set_managed_fields,
    versioned::Refused,
};
use crate::{
    FieldSet,
    typed::{Duplicates, validate},
};

/// Records in the managed fields of a new object that somebody wrote it: what differs from the live
/// object is theirs now, and nobody else's. To be called before anything else changes the new object,
/// with the managed fields as they were sent. Without a live object it is a create.
///
/// A write does not fail because of its managed fields; if they cannot be told there are none.
pub fn update(write: &Write<'_>, live: Option<&Value>, new: &mut Value, manager: &str) {
    let managers = managers_of(write, live, new);
    set_managed_fields(new, None);
    // Once an object has no entries they are not kept until somebody applies to it.
    if managers.is_empty() && live.is_some() {
        return;
    }
    let recorded = match live {
        Some(live) => record(write, live, new, managers, manager),
        None => record(write, &write.versions.empty(), new, managers, manager),
    };
    set_managed_fields(new, recorded.ok().and_then(Managers::write));
}

/// Those that were sent, unless they say nothing: clients that do not know of managed fields must not
/// take them away. Subresources cannot be used to change them.
fn managers_of(write: &Write<'_>, live: Option<&Value>, new: &Value) -> Managers {
    if write.subresource.is_empty() {
        let sent = managed_fields(new);
        if is_reset(sent) {
            return Managers::default();
        }
        if let Ok(managers) = Managers::read(sent)
            && !managers.is_empty()
        {
            return managers;
        }
    }
    Managers::read(live.and_then(managed_fields)).unwrap_or_default()
}

/// The entries after a write that made the new object of the live one.
pub(super) fn record(
    write: &Write<'_>,
    live: &Value,
    new: &Value,
    mut managers: Managers,
    manager: &str,
) -> Result<Managers, String> {
    let schema = write.schema()?;
    for (object, which) in [(new, "new"), (live, "live")] {
        validate(schema, object, Duplicates::Allowed).map_err(|errors| {
            let what = write.shown(object);
            format!("failed to convert {which} object ({what}) to smd typed: {errors}")
        })?;
    }
    write.reconcile(&mut managers);
    let comparison = match write.contest((live, new), &mut managers, None, true) {
        Ok(comparison) => comparison,
        Err(Refused::Failed(reason)) => return Err(reason),
        Err(Refused::Conflicts(conflicts)) => return Err(conflicts.to_string()),
    };
    let changed = comparison.modified.union(&comparison.added).difference(&BOOKKEEPING);
    if !changed.is_empty() {
        let id = id_of(write, manager, Operation::Update);
        let fields = match managers.get(&id) {
            Some(before) => changed.union(&before.fields),
            None => changed,
        };
        managers.set(Entry {
            id,
            api_version: write.api_version.to_owned(),
            time: Some(write.now.to_owned()),
            fields,
        });
    }
    Ok(merge_oldest(managers))
}

pub(super) fn id_of(write: &Write<'_>, manager: &str, operation: Operation) -> Id {
    let manager = if manager.is_empty() { "unknown" } else { manager };
    Id::new(manager, operation, write.api_version, write.subresource)
}

/// Fields that tell what an object is, or that the server keeps. They belong to nobody.
pub(super) static BOOKKEEPING: LazyLock<FieldSet> = LazyLock::new(|| {
    const PATHS: [&[&str]; 12] = [
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ];
    FieldSet::of_paths(PATHS)
});
