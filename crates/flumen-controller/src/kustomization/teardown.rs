//! In which order Kustomizations go that are deleted together: those that depend on others before these.

use std::time::Duration;

use flumen_api::{Kustomization, mark_reconciling};
use jiff::Timestamp;

use super::{STATUS_MANAGER, outcome::PROGRESSING};
use crate::{Controller, Key, cache::reflected::Name, queue::Next, status};

/// Who deletes several deletes them one after another. For so long one that others depend on waits for news of these.
const SETTLED_AFTER: Duration = Duration::from_secs(3);
/// At most so many names are listed in a message.
const NAMED: usize = 10;

/// What must happen before the objects of a deleted Kustomization may go; `None` when it is their turn.
pub(super) async fn wait(
    controller: &Controller,
    key: &Key,
    object: &Kustomization,
) -> Option<Next> {
    let dependants = dependants(controller, object);
    if dependants.is_empty() {
        return None;
    }
    let deleted: Vec<Name> = dependants
        .into_iter()
        .filter_map(|(name, is_deleted)| is_deleted.then_some(name))
        .collect();
    if deleted.is_empty() {
        return unsettled(object).map(Next::After);
    }
    show(controller, key, object, &deleted).await;
    // The last of them wakes us.
    Some(Next::Rest)
}

/// Those that depend on a Kustomization, and whether they are deleted, too. Who is in a circle with it waits for nobody.
fn dependants(controller: &Controller, object: &Kustomization) -> Vec<(Name, bool)> {
    let this = (object.metadata.namespace.clone(), object.metadata.name.clone());
    let index = controller.index();
    let mut dependants: Vec<(Name, bool)> = Vec::new();
    for name in index.dependants(&this) {
        if let Some(Ok(there)) = controller.kustomizations.get(&name.0, &name.1) {
            dependants.push((name.clone(), there.metadata.deletion_timestamp.is_some()));
        }
    }
    if !dependants.is_empty() && index.behind(&this).contains(&this) {
        dependants.retain(|(name, _)| !index.behind(name).contains(&this));
    }
    dependants
}

/// How long it is until those who depend on a Kustomization would be deleted, too.
fn unsettled(object: &Kustomization) -> Option<Duration> {
    let deleted: Timestamp = object.metadata.deletion_timestamp.as_ref()?.parse().ok()?;
    let since = Timestamp::now().duration_since(deleted);
    // Another clock set that time: one that is far ahead must not stop us.
    let since = Duration::try_from(since).ok()?;
    SETTLED_AFTER.checked_sub(since).filter(|rest| !rest.is_zero())
}

async fn show(controller: &Controller, key: &Key, object: &Kustomization, names: &[Name]) {
    let mut list: Vec<String> =
        names.iter().take(NAMED).map(|(namespace, name)| format!("{namespace}/{name}")).collect();
    if names.len() > NAMED {
        list.push(format!("{} more", names.len() - NAMED));
    }
    let (what, depend) = match names {
        [_] => ("Kustomization", "depends"),
        _ => ("Kustomizations", "depend"),
    };
    let list = list.join(", ");
    let message = format!("waiting for the deletion of {what} {list}, which {depend} on it");
    let mut shown = object.clone();
    mark_reconciling(&mut shown, PROGRESSING, &message, Timestamp::now());
    match status::write(&controller.client, object, &shown, STATUS_MANAGER).await {
        Ok(Some(node)) => controller.kustomizations.saw(&node),
        Ok(None) => {}
        Err(error) => tracing::warn!(object = %key, %error, "cannot show what it waits for"),
    }
}
