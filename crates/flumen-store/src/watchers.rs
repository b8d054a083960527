//! Who waits for changes of which keys.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::entry::{Event, Revision};

/// Events that wait for one watcher. When there are more, the watcher reads history instead.
const QUEUE: usize = 128;

/// Watchers that have seen all of history, by the prefix of the keys they ask for.
#[derive(Debug)]
pub(crate) struct Watchers {
    /// Bytes, because two texts may share a prefix that ends inside a character.
    by_prefix: BTreeMap<Box<[u8]>, Vec<Watcher>>,
    /// The last revision whose events were handed out.
    revision: Revision,
    next: u64,
    closed: bool,
}

#[derive(Debug)]
struct Watcher {
    number: u64,
    events: Sender<Arc<Event>>,
}

impl Watchers {
    pub(crate) fn new(revision: Revision) -> Self {
        Self { by_prefix: BTreeMap::new(), revision, next: 0, closed: false }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends all watches.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.by_prefix.clear();
    }

    /// Returns what [`Self::remove`] asks for, and where events arrive.
    pub(crate) fn add(&mut self, prefix: &str) -> (u64, Receiver<Arc<Event>>) {
        let (events, receiver) = mpsc::channel(QUEUE);
        let number = self.next;
        self.next += 1;
        let watchers = self.by_prefix.entry(Box::from(prefix.as_bytes())).or_default();
        watchers.push(Watcher { number, events });
        (number, receiver)
    }

    pub(crate) fn remove(&mut self, prefix: &str, number: u64) {
        self.retain(prefix.as_bytes(), |watcher| watcher.number != number);
    }

    fn retain(&mut self, prefix: &[u8], keep: impl Fn(&Watcher) -> bool) {
        if let Some(watchers) = self.by_prefix.get_mut(prefix) {
            watchers.retain(keep);
            if watchers.is_empty() {
                self.by_prefix.remove(prefix);
            }
        }
    }

    /// Hands events to those who ask for their keys. Who has no room left is let go: the end of
    /// its queue tells it to read on in history.
    pub(crate) fn dispatch(&mut self, events: &[Arc<Event>]) {
        for event in events {
            let mut key = Some(event.key.as_bytes());
            while let Some(prefix) = key.and_then(|key| self.longest_prefix(key)) {
                self.retain(&event.key.as_bytes()[..prefix], |watcher| {
                    watcher.events.try_send(Arc::clone(event)).is_ok()
                });
                key = prefix.checked_sub(1).map(|shorter| &event.key.as_bytes()[..shorter]);
            }
            self.revision = event.revision;
        }
    }

    /// The length of the longest prefix of the key that someone asks for.
    fn longest_prefix(&self, mut key: &[u8]) -> Option<usize> {
        loop {
            let range = (Bound::Unbounded, Bound::Included(key));
            let (nearest, _) = self.by_prefix.range::<[u8], _>(range).next_back()?;
            let common = nearest.iter().zip(key).take_while(|(a, b)| a == b).count();
            if common == nearest.len() {
                return Some(common);
            }
            // A longer prefix of the key would be nearer to the key.
            key = &key[..common];
        }
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn event(key: &str) -> Arc<Event> {
        Arc::new(Event {
            revision: 1,
            key: Arc::from(key),
            entry: None,
            previous: None,
            sequence: 0,
        })
    }

    #[test]
    fn a_watcher_that_left_costs_nothing() {
        let mut watchers = Watchers::new(0);
        let (first, _receiver) = watchers.add("/a/");
        let (second, _receiver) = watchers.add("/a/");
        watchers.remove("/a/", first);
        assert_eq!(watchers.by_prefix.len(), 1);
        watchers.remove("/a/", second);
        assert!(watchers.by_prefix.is_empty());
    }

    #[test]
    fn a_full_queue_ends() {
        let mut watchers = Watchers::new(0);
        let (_, mut receiver) = watchers.add("");
        for _ in 0..=QUEUE {
            watchers.dispatch(&[event("/a")]);
        }
        let mut received = 0;
        while receiver.blocking_recv().is_some() {
            received += 1;
        }
        assert_eq!(received, QUEUE);
        assert!(watchers.by_prefix.is_empty());
    }
}
