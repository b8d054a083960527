//! In which order Kustomizations go that are deleted together: those that depend on others before these.

use std::time::Duration;

use flumen_api::{Kustomization, mark_reconciling};
use jiff::Timestamp;

use super::{STATUS_MANAGER, depends::ahead, outcome::PROGRESSING};
use crate::{
    Controller, Key,
    cache::reflected::Name,
    queue::Next,
    status::{self, has_finalizer},
};

/// Who deletes several deletes them one after another. For so long one that others depend on waits for news of these.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// What must happen before the objects of a deleted Kustomization may go; `None` when it is their turn.
pub(super) async fn wait(
    controller: &Controller,
    key: &Key,
    object: &Kustomization,
) -> Option<Next> {
    match behind(controller, object) {
        Behind::Nobody => None,
        Behind::Others => unsettled(object).map(Next::After),
        Behind::Deleted { first, are_more } => {
            show(controller, key, object, &first, are_more).await;
            // Each that goes wakes us.
            Some(Next::Rest)
        }
    }
}

/// Who depends on a deleted Kustomization.
enum Behind {
    Nobody,
    /// None of them is deleted, too.
    Others,
    Deleted {
        first: Name,
        are_more: bool,
    },
}

/// Who is in a circle with the object waits for nobody, and nobody for them.
fn behind(controller: &Controller, object: &Kustomization) -> Behind {
    let this = (object.metadata.namespace.clone(), object.metadata.name.clone());
    let ahead = ahead(controller, object);
    let index = controller.index();
    let mut behind = Behind::Nobody;
    for name in index.dependants(&this).filter(|name| !ahead.contains(name)) {
        let Some(Ok(there)) = controller.kustomizations.get(&name.0, &name.1) else { continue };
        let is_deleted = there.metadata.deletion_timestamp.is_some();
        if is_deleted && !has_finalizer(there.as_ref()) {
            // Its objects are gone; what holds it is no concern of ours.
            continue;
        }
        behind = match behind {
            Behind::Deleted { first, .. } if is_deleted => {
                return Behind::Deleted { first, are_more: true };
            }
            _ if is_deleted => Behind::Deleted { first: name.clone(), are_more: false },
            Behind::Nobody => Behind::Others,
            known => known,
        };
    }
    behind
}

/// How long it is until those who depend on a Kustomization would be deleted, too.
fn unsettled(object: &Kustomization) -> Option<Duration> {
    let deleted: Timestamp = object.metadata.deletion_timestamp.as_ref()?.parse().ok()?;
    let since = Timestamp::now().duration_since(deleted);
    // Another clock set that time: one that is far ahead must not stop us.
    let since = Duration::try_from(since).ok()?;
    SETTLED_AFTER.checked_sub(since).filter(|rest| !rest.is_zero())
}

async fn show(
    controller: &Controller,
    key: &Key,
    object: &Kustomization,
    (namespace, name): &Name,
    are_more: bool,
) {
    let rest = if are_more { " and others, which depend" } else { ", which depends" };
    let message =
        format!("waiting for the deletion of Kustomization {namespace}/{name}{rest} on it");
    let mut shown = object.clone();
    mark_reconciling(&mut shown, PROGRESSING, &message, Timestamp::now());
    match status::write(&controller.client, object, &shown, STATUS_MANAGER).await {
        Ok(Some(node)) => controller.kustomizations.saw(&node),
        Ok(None) => {}
        Err(error) => tracing::warn!(object = %key, %error, "cannot show what it waits for"),
    }
}
