//! The inventory of a Kustomization, which is in its status.

use flumen_api::{Inventory as Entries, InventoryEntry};
use flumen_apply::{Entry, Error, Inventory, InventoryStore, Recorded};
use flumen_object::ObjectId;
use parking_lot::Mutex;

use super::reconciler::Run;

/// Keeps the inventory of one pass. Only the write ahead is a request: what a pass has come to is written with all
/// that it has to say.
pub(super) struct StatusStore<'a> {
    /// `None` when nothing is going to appear.
    run: Option<&'a Run<'a>>,
    before: Inventory,
    after: Mutex<Option<Inventory>>,
}

impl<'a> StatusStore<'a> {
    pub(super) const fn new(run: &'a Run<'a>, before: Inventory) -> Self {
        Self { run: Some(run), before, after: Mutex::new(None) }
    }

    /// An inventory that is only taken back.
    pub(super) const fn of_inventory(before: Inventory) -> Self {
        Self { run: None, before, after: Mutex::new(None) }
    }

    /// What the pass has come to, if it came that far.
    pub(super) fn committed(self) -> Option<Inventory> {
        self.after.into_inner()
    }
}

impl InventoryStore for StatusStore<'_> {
    async fn load(&self) -> Result<Recorded, Error> {
        Ok(Recorded { inventory: self.before.clone(), history: Vec::new() })
    }

    async fn write_ahead(&self, recorded: &Recorded) -> Result<(), Error> {
        if let Some(run) = self.run {
            run.with(|object| object.status.inventory = Some(entries(&recorded.inventory)));
            run.write().await?;
        }
        Ok(())
    }

    async fn commit(&self, recorded: &Recorded) -> Result<(), Error> {
        *self.after.lock() = Some(recorded.inventory.clone());
        Ok(())
    }

    async fn delete(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// An inventory as a status shows it.
pub(super) fn entries(inventory: &Inventory) -> Entries {
    let entry = |entry: &Entry| InventoryEntry {
        id: entry.id.inventory_id(),
        v: entry.id.gvk.version.to_string(),
    };
    Entries { entries: inventory.entries().into_iter().map(entry).collect() }
}

/// The inventory of a status with what is remembered of its objects, and the first entry that cannot be read.
pub(super) fn read(
    status: Option<&Entries>,
    remembered: Option<&Inventory>,
) -> (Inventory, Option<String>) {
    let mut inventory = Inventory::default();
    let mut unreadable = None;
    for entry in status.into_iter().flat_map(|status| &status.entries) {
        match ObjectId::from_inventory(&entry.id, &entry.v) {
            Ok(id) => {
                let known = remembered.and_then(|known| known.get(&id));
                let seen = known.and_then(|known| known.seen.clone());
                inventory.insert(Entry { id, seen });
            }
            Err(error) => unreadable = unreadable.or_else(|| Some(error.to_string())),
        }
    }
    (inventory, unreadable)
}
