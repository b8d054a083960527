//! Deletes objects of the owner, and no others.

use flumen_kube::{Cluster, DeleteOptions, ObjectName, Resource};
use flumen_object::{ObjectId, Origin};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::{Action, Change, Error, Marks, ObjectError, Options};

/// Inventories of fewer objects are not guarded.
const GUARDED_FROM: usize = 10;

/// What a deletion did.
#[derive(Debug, Default)]
pub(crate) struct Pruned {
    pub(crate) changes: Vec<Change>,
    /// Those that are being deleted, and how their kind is served.
    pub(crate) deleted: Vec<(Resource, ObjectId)>,
    pub(crate) failures: Vec<ObjectError>,
}

/// Refuses to delete everything, or more than half of a larger inventory, without a word.
pub(crate) fn guard(stale: &[ObjectId], wanted: usize, total: usize) -> Result<(), Error> {
    if wanted == 0 || total >= GUARDED_FROM && stale.len() * 2 > total {
        return Err(Error::PruneGuarded { stale: stale.to_vec(), total });
    }
    Ok(())
}

enum Deletion {
    Done(Resource),
    /// It was gone already.
    Gone,
    Skipped,
    Failed(ObjectError),
}

/// Deletes in the given order; kinds that others stand on only when those are done.
///
/// What cannot be deleted does not stop the rest.
pub(crate) async fn delete_all<C: Cluster>(
    cluster: &C,
    ids: &[ObjectId],
    options: &Options,
) -> Result<Pruned, Error> {
    let mut pruned = Pruned::default();
    for group in ids.chunk_by(|a, b| a.apply_rank() == b.apply_rank()) {
        let deletions: Vec<Deletion> = stream::iter(group)
            .map(|id| delete_one(cluster, id, options))
            .buffered(options.concurrency)
            .try_collect()
            .await?;
        for (id, deletion) in group.iter().zip(deletions) {
            let action = match deletion {
                Deletion::Done(resource) => {
                    pruned.deleted.push((resource, id.clone()));
                    Action::Deleted
                }
                Deletion::Gone => Action::Deleted,
                Deletion::Skipped => Action::Skipped,
                Deletion::Failed(error) => {
                    pruned.failures.push(error);
                    continue;
                }
            };
            pruned.changes.push(Change { id: id.clone(), action });
        }
    }
    Ok(pruned)
}

async fn delete_one<C: Cluster>(
    cluster: &C,
    id: &ObjectId,
    options: &Options,
) -> Result<Deletion, Error> {
    let failed = |what: &str, error: flumen_kube::Error| match error.status() {
        Some(_) => {
            Ok(Deletion::Failed(ObjectError::doing(what, id, &Origin::default(), &error, None)))
        }
        None => Err(Error::from(error)),
    };
    // The version may be gone while the kind is still there.
    let resource = match cluster.resource_in_any_version(&id.gvk).await {
        Ok(Some(resource)) => resource,
        Ok(None) if options.strict_kinds && !has_seen_kind(id, options) => {
            return Ok(Deletion::Failed(ObjectError::unknown_kind("query", id)));
        }
        // Without its definition no object of a kind can exist.
        Ok(None) => return Ok(Deletion::Gone),
        // Somewhere behind the server it may.
        Err(error) if error.is_group_down() => {
            return Ok(Deletion::Failed(ObjectError::group_down(id, &error)));
        }
        Err(error) => return Err(error.into()),
    };
    let object = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    // Who watches the object need not look at it, unless it is to be left alone for what was seen.
    let seen = options.watched.as_ref().and_then(|watched| watched.sight(id));
    let mut seen = seen.map(|sight| sight.marks);
    seen = seen.filter(|marks| marks.may_be_deleted_by(&options.owner) && !marks.is_terminating);
    // Someone may change the object between the look and the deletion: then look again.
    for _ in 0..LOOKS {
        let marks = match seen.take() {
            Some(marks) => marks,
            None => match cluster.get(object).await {
                Ok(Some(live)) => Marks::of(&live, &options.owner.group),
                Ok(None) => return Ok(Deletion::Gone),
                Err(error) => return failed("query", error),
            },
        };
        if !marks.may_be_deleted_by(&options.owner) {
            return Ok(Deletion::Skipped);
        }
        if marks.is_terminating {
            return Ok(Deletion::Done(resource));
        }
        let request = DeleteOptions {
            uid: Some(&marks.uid),
            resource_version: Some(&marks.resource_version),
            ..DeleteOptions::default()
        };
        match cluster.delete(object, request).await {
            Ok(_) => return Ok(Deletion::Done(resource)),
            Err(error) if error.is_conflict() => {}
            Err(error) => return failed("delete", error),
        }
    }
    let message = format!("{id} delete failed: it changes faster than it can be looked at");
    let hint = Some("run again".to_owned());
    Ok(Deletion::Failed(ObjectError { id: id.clone(), message, origin: Origin::default(), hint }))
}

fn has_seen_kind(id: &ObjectId, options: &Options) -> bool {
    options.watched.as_ref().is_some_and(|watched| watched.has_seen_kind(id))
}

/// How often an object that changes under our hands is looked at.
const LOOKS: usize = 5;
