//! The events that were posted last, found by what makes them the same as another.

use std::collections::{BTreeMap, HashMap};

use super::similar::EventKey;

/// Events that are remembered, so that one that comes again is counted and not posted anew.
pub(super) const REMEMBERED: usize = 1024;

/// An event that is on the cluster.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) name: String,
    pub(super) count: u64,
}

#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// With when they were posted last.
    events: HashMap<EventKey, (u64, Posted)>,
    order: BTreeMap<u64, EventKey>,
    latest: u64,
}

impl Remembered {
    /// Takes out the event that another one is the same as.
    pub(super) fn take(&mut self, key: &EventKey) -> Option<Posted> {
        let (number, posted) = self.events.remove(key)?;
        self.order.remove(&number);
        Some(posted)
    }

    /// Remembers an event, and forgets the oldest when there are too many.
    pub(super) fn put(&mut self, key: EventKey, posted: Posted) {
        self.latest += 1;
        self.order.insert(self.latest, key.clone());
        self.events.insert(key, (self.latest, posted));
        if self.events.len() > REMEMBERED
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.events.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::events::similar::Similar;

    #[test]
    fn the_oldest_are_forgotten() {
        let key = |number: usize| {
            let event = json!({"message": "a", "reason": "b", "type": "Normal",
                               "involvedObject": {"uid": number.to_string()}});
            Similar::default().combine(event, Timestamp::UNIX_EPOCH).1
        };
        let posted = |number: usize| Posted { name: number.to_string(), count: 1 };
        let mut remembered = Remembered::default();
        for number in 0..REMEMBERED {
            remembered.put(key(number), posted(number));
        }
        let first = remembered.take(&key(0)).expect("it is remembered");
        assert_eq!(first.name, "0");
        assert!(remembered.take(&key(0)).is_none(), "it is taken out");
        remembered.put(key(0), first);
        remembered.put(key(REMEMBERED), posted(REMEMBERED));
        assert!(remembered.take(&key(1)).is_none(), "the oldest is forgotten");
        assert!(remembered.take(&key(0)).is_some(), "what came again is not the oldest");
        assert_eq!(remembered.events.len(), remembered.order.len());
    }
}
