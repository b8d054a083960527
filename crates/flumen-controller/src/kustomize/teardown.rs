//! The order in which Kustomizations are deleted together: dependents first.

use std::time::Duration;

use flumen_api::{Kustomization, mark_reconciling};
use flumen_runtime::{Key, Relation, Requeue, has_finalizer};
use jiff::Timestamp;

use super::{Kustomize, outcome::PROGRESSING, reconciler::Run};
use crate::KUSTOMIZATION;

/// Grace period of a Kustomization that others depend on: several are deleted one after another.
const GRACE: Duration = Duration::from_secs(3);

/// Returns the requeue if the objects of a deleted Kustomization must stay for now.
pub(super) async fn wait(
    kustomize: &Kustomize,
    run: &Run<'_>,
    object: &Kustomization,
) -> Option<Requeue> {
    match dependents(kustomize, run.key()) {
        Dependents::None => None,
        Dependents::Present => grace(object, kustomize.runtime.clock.now()).map(Requeue::After),
        Dependents::Terminating { first, are_more } => {
            show(run, &first, are_more).await;
            // Each of them wakes this one when it is deleted.
            Some(Requeue::Never)
        }
    }
}

/// The dependents of a deleted Kustomization.
enum Dependents {
    None,
    /// None of them is being deleted.
    Present,
    Terminating {
        first: Key,
        are_more: bool,
    },
}

/// Looks at the dependents. The members of a cycle do not wait for each other.
fn dependents(kustomize: &Kustomize, key: &Key) -> Dependents {
    let users: Vec<Key> = {
        let index = kustomize.runtime.index();
        let dependencies = index.all_dependencies(key);
        let id = key.object_id();
        let users = index.users(Relation::DEPENDENCY, &id);
        users.filter(|user| !dependencies.contains(&user.object_id())).cloned().collect()
    };
    let mut found = Dependents::None;
    for user in users {
        let Some(object) = kustomize.get(&user.to_name()) else { continue };
        let is_deleted = object.metadata.deletion_timestamp.is_some();
        if is_deleted && !has_finalizer(&KUSTOMIZATION, object.as_ref()) {
            // Its objects are deleted; finalizers of others do not matter here.
            continue;
        }
        found = match found {
            Dependents::Terminating { first, .. } if is_deleted => {
                return Dependents::Terminating { first, are_more: true };
            }
            _ if is_deleted => Dependents::Terminating { first: user, are_more: false },
            Dependents::None => Dependents::Present,
            known => known,
        };
    }
    found
}

/// Returns what is left of the grace period, in which the dependents may be deleted, too.
fn grace(object: &Kustomization, now: Timestamp) -> Option<Duration> {
    let deleted: Timestamp = object.metadata.deletion_timestamp.as_ref()?.parse().ok()?;
    // The clock of the server set that time: one that is far ahead must not stop us.
    let since = Duration::try_from(now.duration_since(deleted)).ok()?;
    GRACE.checked_sub(since).filter(|rest| !rest.is_zero())
}

async fn show(run: &Run<'_>, first: &Key, are_more: bool) {
    let rest = if are_more { " and others, which depend" } else { ", which depends" };
    let message = format!(
        "waiting for the deletion of Kustomization {}/{}{rest} on it",
        first.namespace, first.name
    );
    let now = run.runtime().clock.now();
    run.with(|object| mark_reconciling(object, PROGRESSING, &message, now));
    if let Err(error) = run.write().await {
        tracing::warn!(object = %run.key(), %error, "cannot show what it waits for");
    }
}
