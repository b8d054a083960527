//! Takes back everything that an inventory names.

use flumen_kube::Cluster;
use flumen_object::ObjectId;
use tokio::time::Instant;

use crate::{
    Change, Error, Inventory, InventoryStore, Options, Progress, Recorded, Report,
    gone::until_gone, prune::delete_all,
};

/// Deletes all objects in the reverse order of applying, waits as `options` say, and forgets the inventory.
///
/// Objects that are gone already, or that belong to others by now, are fine.
pub async fn delete<C: Cluster, S: InventoryStore>(
    cluster: &C,
    store: &S,
    options: &Options,
    report: &dyn Report,
) -> Result<Vec<Change>, Error> {
    let deadline = Instant::now() + options.timeout;
    let Recorded { inventory, history } = store.load().await?;
    let ids: Vec<ObjectId> =
        inventory.stale(&Inventory::default()).iter().map(|entry| entry.id.clone()).collect();
    let deleted = delete_all(cluster, &ids, options).await?;
    for change in &deleted.changes {
        report.report(&Progress::Pruned(change));
    }
    if !deleted.failures.is_empty() {
        let left = deleted.failures.iter().filter_map(|error| inventory.get(&error.id)).cloned();
        store.commit(&Recorded { inventory: left.collect(), history }).await?;
        return Err(Error::PruneFailed(deleted.failures));
    }
    if options.wait {
        until_gone(cluster, &deleted.deleted, deadline, report).await?;
    }
    store.delete().await?;
    Ok(deleted.changes)
}
