//! Where an inventory is kept between runs.

use std::future::Future;

use crate::{Deployment, Error, Inventory};

/// What a store holds of one owner.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub inventory: Inventory,
    /// What was deployed, newest first.
    pub history: Vec<Deployment>,
}

/// Keeps the inventory of one owner. The two writes are the only state of a run.
pub trait InventoryStore: Send + Sync {
    /// What is there now; empty when nothing was ever applied.
    fn load(&self) -> impl Future<Output = Result<Recorded, Error>> + Send;

    /// Names what is about to appear. Another writer since [`Self::load`] or the last write is an error.
    fn write_ahead(&self, recorded: &Recorded) -> impl Future<Output = Result<(), Error>> + Send {
        self.commit(recorded)
    }

    /// Replaces all of it by what a run has come to. Another writer in between is an error.
    fn commit(&self, recorded: &Recorded) -> impl Future<Output = Result<(), Error>> + Send;

    /// Forgets the owner.
    fn delete(&self) -> impl Future<Output = Result<(), Error>> + Send;
}
