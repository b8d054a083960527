//! What is remembered of a Kustomization from one pass to the next, so that nothing is done twice.
//!
//! Losing it costs a few requests and nothing else.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use flumen_apply::Inventory;

use super::build::Input;
use crate::Key;

#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<Key, Remembered>>);

/// How the last pass that applied everything has left things.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    /// What was built, and what that was read from.
    pub(super) input: Input,
    /// The digest of the build, which the history shows.
    pub(super) digest: String,
    /// What is applied, and how it looked then.
    pub(crate) inventory: Inventory,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Remembered> {
        self.lock().get(key).cloned()
    }

    pub(super) fn set(&self, key: &Key, remembered: Remembered) {
        self.lock().insert(key.clone(), remembered);
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    /// Asks something of what is remembered.
    pub(crate) fn with<T>(&self, key: &Key, ask: impl FnOnce(&Remembered) -> T) -> Option<T> {
        self.lock().get(key).map(ask)
    }
}
