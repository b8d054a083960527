//! Applied objects that other managers change: whether that is drift, and whom it wakes.
//!
//! The watch event of a write may come before its answer, so a change during a reconciliation of the owner is judged when
//! that has ended: by then it is known what the reconciliation itself has left.

use std::collections::{BTreeMap, HashMap};

use flumen_object::ObjectId;
use flumen_runtime::{Key, Trigger};
use parking_lot::Mutex;

use super::{Kustomize, drift::Mode, owned::Moved};
use crate::KUSTOMIZATION;

/// Objects that changed during running reconciliations, with the managers that changed them.
pub(super) type Meanwhile = Mutex<HashMap<Key, BTreeMap<ObjectId, Option<String>>>>;

impl Kustomize {
    /// Wakes the owner of an object that is no longer as it was applied.
    pub(super) fn object_moved(&self, moved: Moved) {
        if !self.options.correct_drift_at_once {
            return;
        }
        let owner = self.get(&moved.owner);
        let (namespace, name) = moved.owner;
        let key = Key::new(&KUSTOMIZATION, namespace, name);
        let queue = &self.runtime.queue;
        if owner.is_some_and(|owner| Mode::of(&owner) == Ok(Mode::Report)) {
            // A change back is reported as well.
            queue.add(key, Trigger::Due);
            return;
        }
        // Locked while the queue is asked, so that a reconciliation that ends now finds what is added here.
        let mut meanwhile = self.meanwhile.lock();
        if queue.is_running(&key) {
            meanwhile.entry(key).or_default().insert(moved.id, moved.by);
            return;
        }
        drop(meanwhile);
        self.judge(&key, &moved.id, moved.by);
    }

    /// Judges the changes during a reconciliation that has ended.
    pub(super) fn judge_moved(&self, key: &Key) {
        let moved = self.meanwhile.lock().remove(key);
        for (id, by) in moved.into_iter().flatten() {
            self.judge(key, &id, by);
        }
    }

    fn judge(&self, key: &Key, id: &ObjectId, by: Option<String>) {
        let is_drift = self.memory.with(key, |remembered| {
            let entry = remembered.inventory.get(id);
            let left = entry.and_then(|entry| entry.seen.as_ref());
            left.is_some_and(|left| self.owned.differs(id, left.live))
        });
        if is_drift == Some(true) && self.contests.changed(key, id, by) {
            tracing::info!(object = %key, drifted = %id, "drift");
            self.runtime.queue.add(key.clone(), Trigger::Due);
        }
    }
}
