//! All entries in memory, now and at the revisions that history covers.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    ops::Bound,
    sync::Arc,
};

use crate::{
    Options,
    entry::{Entry, Event, Revision},
    error::ReadError,
    history::History,
};

/// Which keys to read, and when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range<'a> {
    pub prefix: &'a str,
    /// Begin behind this key.
    pub after: Option<&'a str>,
    /// `None` reads the newest revision.
    pub revision: Option<Revision>,
    /// `None` reads all.
    pub limit: Option<usize>,
}

/// Entries in the order of their keys.
#[derive(Clone, Debug)]
pub struct Page {
    /// When the entries were read. Later pages of the same range ask for this revision.
    pub revision: Revision,
    pub entries: Vec<(Arc<str>, Entry)>,
    /// Whether the limit left entries out.
    pub more: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    slots: BTreeMap<Arc<str>, Slot>,
    history: History,
    revision: Revision,
}

/// What a key holds and held.
#[derive(Debug, Default)]
struct Slot {
    live: Option<Entry>,
    /// Oldest first. A slot without a live entry is there for these alone.
    past: VecDeque<Past>,
}

#[derive(Debug)]
struct Past {
    entry: Entry,
    /// The revision that replaced or deleted the entry.
    until: Revision,
}

impl Slot {
    fn at(&self, revision: Revision) -> Option<&Entry> {
        if let Some(live) = &self.live
            && live.revision <= revision
        {
            return Some(live);
        }
        let index = self.past.partition_point(|past| past.until <= revision);
        let past = self.past.get(index)?;
        (past.entry.revision <= revision).then_some(&past.entry)
    }
}

impl State {
    pub(crate) fn new(
        revision: Revision,
        entries: impl IntoIterator<Item = (Arc<str>, Entry)>,
        limits: Options,
    ) -> Self {
        let slot = |entry| Slot { live: Some(entry), past: VecDeque::new() };
        Self {
            slots: entries.into_iter().map(|(key, entry)| (key, slot(entry))).collect(),
            history: History::new(revision, limits),
            revision,
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.slots.get(key)?.live.as_ref()
    }

    /// The key as it is held already, or a new one.
    pub(crate) fn share(&self, key: &str) -> Arc<str> {
        self.slots.get_key_value(key).map_or_else(|| Arc::from(key), |(key, _)| Arc::clone(key))
    }

    pub(crate) fn range(&self, range: &Range<'_>) -> Result<Page, ReadError> {
        let (revision, mut found) = self.find(range)?;
        let limit = range.limit.unwrap_or(usize::MAX);
        let entries = found
            .by_ref()
            .take(limit)
            .map(|(key, entry)| (Arc::clone(key), entry.clone()))
            .collect();
        Ok(Page { revision, entries, more: found.next().is_some() })
    }

    pub(crate) fn count(&self, range: &Range<'_>) -> Result<usize, ReadError> {
        Ok(self.find(range)?.1.count())
    }

    /// All entries of a range, whatever its limit is.
    fn find<'a>(
        &'a self,
        range: &Range<'a>,
    ) -> Result<(Revision, impl Iterator<Item = (&'a Arc<str>, &'a Entry)>), ReadError> {
        let revision = range.revision.unwrap_or(self.revision);
        self.check(revision)?;
        let prefix = range.prefix;
        let begin = match range.after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let found = self
            .slots
            .range::<str, _>((begin, Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(prefix))
            .filter_map(move |(key, slot)| Some((key, slot.at(revision)?)));
        Ok((revision, found))
    }

    /// Whether there is something to read at the revision.
    pub(crate) fn check(&self, requested: Revision) -> Result<(), ReadError> {
        let (compacted, current) = (self.history.compacted(), self.revision);
        if requested < compacted {
            return Err(ReadError::Compacted { requested, compacted });
        }
        if requested > current {
            return Err(ReadError::Future { requested, current });
        }
        Ok(())
    }

    /// Makes changes visible, which are those after the newest revision, in order.
    pub(crate) fn apply(&mut self, events: &[Arc<Event>]) {
        for event in events {
            let slot = self.slots.entry(Arc::clone(&event.key)).or_default();
            if let Some(entry) = mem::replace(&mut slot.live, event.entry.clone()) {
                slot.past.push_back(Past { entry, until: event.revision });
            }
            self.revision = event.revision;
            self.history.push(Arc::clone(event));
        }
        while let Some(revision) = self.history.excess() {
            self.forget(revision);
        }
    }

    pub(crate) fn compact(&mut self, revision: Revision) -> Result<(), ReadError> {
        if revision > self.revision {
            return Err(ReadError::Future { requested: revision, current: self.revision });
        }
        self.forget(revision);
        Ok(())
    }

    /// Drops what only readers before the revision could see.
    fn forget(&mut self, revision: Revision) {
        while let Some(event) = self.history.forget(revision) {
            let Some(slot) = self.slots.get_mut(&event.key) else { continue };
            if event.previous.is_some() {
                // Events are forgotten in order, so this is the one that the event replaced.
                slot.past.pop_front();
            }
            if slot.live.is_none() && slot.past.is_empty() {
                self.slots.remove(&event.key);
            }
        }
    }
}
