//! The latest events, as far as they are kept.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;

use crate::{
    Options,
    entry::{Event, Revision},
};

#[derive(Debug)]
pub(crate) struct History {
    events: VecDeque<Arc<Event>>,
    /// The sequence number of the next event.
    end: u64,
    /// Everything up to this revision is forgotten.
    compacted: Revision,
    /// Bytes of the values that only history holds.
    superseded: usize,
    limits: Options,
}

impl History {
    pub(crate) fn new(revision: Revision, limits: Options) -> Self {
        Self { events: VecDeque::new(), end: 0, compacted: revision, superseded: 0, limits }
    }

    pub(crate) fn compacted(&self) -> Revision {
        self.compacted
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The sequence number of the oldest event that is kept.
    fn begin(&self) -> u64 {
        self.end - self.events.len() as u64
    }

    /// The sequence number of the first event after a revision.
    pub(crate) fn after(&self, revision: Revision) -> u64 {
        self.begin() + self.events.partition_point(|event| event.revision <= revision) as u64
    }

    /// The events from a sequence number on, unless the first of them is no longer kept.
    pub(crate) fn from(&self, sequence: u64) -> Option<impl Iterator<Item = &Arc<Event>>> {
        let skipped = sequence.checked_sub(self.begin())?;
        Some(self.events.range(usize::try_from(skipped).ok()?.min(self.events.len())..))
    }

    pub(crate) fn push(&mut self, event: Arc<Event>) {
        self.superseded += superseded(&event);
        self.end = event.sequence + 1;
        self.events.push_back(event);
    }

    /// The revision to compact so that the limits are kept; to be asked again after that.
    pub(crate) fn excess(&self) -> Option<Revision> {
        let exceeded = self.events.len() > self.limits.history_events
            || self.superseded > self.limits.history_bytes;
        exceeded.then(|| self.events.front().map(|event| event.revision)).flatten()
    }

    /// Forgets one event up to the revision. When there is none left, the revision is compacted.
    pub(crate) fn forget(&mut self, revision: Revision) -> Option<Arc<Event>> {
        let event = self.events.pop_front_if(|event| event.revision <= revision);
        match &event {
            Some(event) => self.superseded -= superseded(event),
            None => self.compacted = self.compacted.max(revision),
        }
        event
    }
}

fn superseded(event: &Event) -> usize {
    event.previous.as_ref().map(|entry| &entry.value).map_or(0, Bytes::len)
}
