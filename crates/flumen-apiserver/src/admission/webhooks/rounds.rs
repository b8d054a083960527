//! Webhooks that are asked again because others have changed the object after them.

use std::collections::BTreeSet;

use serde_json::Value;

/// The first round of all changes and, if a webhook changed something, a second one. Webhooks are known
/// by their places.
#[derive(Debug, Default)]
pub(in crate::admission) struct Rounds {
    is_second: bool,
    changed: bool,
    /// Asked, and to be asked again if something changes from now on.
    waiting: BTreeSet<usize>,
    /// To be asked again.
    again: BTreeSet<usize>,
    /// What the first round made of the object.
    result: Option<Value>,
}

impl Rounds {
    /// Whether everything is to be done again. That happens once.
    pub(in crate::admission) fn repeat(&mut self) -> bool {
        let repeats = self.changed && !self.is_second;
        self.is_second = true;
        repeats
    }

    /// What is not a webhook may have changed the object between the rounds.
    pub(super) fn begin(&mut self, object: &Value) {
        if self.is_second && self.result.as_ref() != Some(object) {
            self.again.append(&mut self.waiting);
        }
    }

    /// A webhook that was not asked in the first round is not asked in the second.
    pub(super) fn asks(&self, place: usize) -> bool {
        !self.is_second || self.again.contains(&place)
    }

    pub(super) fn asked(&mut self, place: usize, waits: bool, changed: bool) {
        if changed {
            self.again.append(&mut self.waiting);
            self.changed = true;
        }
        if waits {
            self.waiting.insert(place);
        }
    }

    pub(super) fn end(&mut self, object: &Value) {
        if self.changed && !self.is_second {
            self.result = Some(object.clone());
        }
    }
}
