//! Applied objects that were seen to move: whether that is drift, and whom it wakes.
//!
//! The watch may tell of a write before the one who writes has its answer, so what moves during a pass over its owner is
//! judged when the pass is over: by then it is known what the pass itself has left.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use flumen_object::ObjectId;

use crate::{
    Controller, Key,
    cache::owned::Moved,
    kustomization::drift::Mode,
    queue::Trigger,
    triggers::{key_of, kustomization},
};

/// What has moved during passes that are under way, and by whose hand.
#[derive(Debug, Default)]
pub(crate) struct Meanwhile(Mutex<HashMap<Key, BTreeMap<ObjectId, Option<String>>>>);

impl Meanwhile {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, BTreeMap<ObjectId, Option<String>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the owner of an object that is no longer as it was applied.
pub(crate) fn heard(controller: &Controller, moved: Moved) {
    if !controller.options.correct_drift_at_once {
        return;
    }
    let key = key_of(&moved.owner);
    let owner = kustomization(controller, &moved.owner);
    if owner.is_some_and(|owner| Mode::of(&owner) == Ok(Mode::Report)) {
        // What comes back to what it was is to be told as well.
        controller.queue.add(key, Trigger::Due);
        return;
    }
    // Held while the queue is asked, so that a pass that ends now finds what is added here.
    let mut meanwhile = controller.meanwhile.lock();
    if controller.queue.is_running(&key) {
        meanwhile.entry(key).or_default().insert(moved.id, moved.by);
        return;
    }
    drop(meanwhile);
    judge(controller, &key, &moved.id, moved.by);
}

/// Judges what has moved during a pass that is over now.
pub(crate) fn judge_meanwhile(controller: &Controller, key: &Key) {
    let moved = controller.meanwhile.lock().remove(key);
    for (id, by) in moved.into_iter().flatten() {
        judge(controller, key, &id, by);
    }
}

fn judge(controller: &Controller, key: &Key, id: &ObjectId, by: Option<String>) {
    let is_drift = controller.memory.with(key, |remembered| {
        let entry = remembered.inventory.get(id);
        let left = entry.and_then(|entry| entry.seen.as_ref());
        left.is_some_and(|left| controller.owned.differs(id, left.live))
    });
    if is_drift == Some(true) && controller.contests.changed(key, id, by) {
        tracing::info!(object = %key, drifted = %id, "drift");
        controller.queue.add(key.clone(), Trigger::Due);
    }
}
