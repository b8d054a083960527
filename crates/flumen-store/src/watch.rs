//! A stream of changes that begins anywhere in history.
//!
//! A watch reads history until it has seen all of it, then it is handed new events through a short
//! queue. If it cannot keep up, the queue ends, and it reads history again from where it stopped.
//! So a slow watch holds little memory and loses nothing, unless it is slower than compaction.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::mpsc::Receiver;

use crate::{
    entry::{Event, Revision},
    error::{ReadError, WatchError},
    store::Shared,
};

/// Events that are read from history at once; others may use the store in between.
const STEP: usize = 1024;

/// Changes of all keys with a prefix, in order.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    prefix: Box<str>,
    /// The sequence number of the first event that was neither seen nor read from history.
    next: u64,
    /// Read from history.
    read: VecDeque<Arc<Event>>,
    /// Present when all of history was read.
    live: Option<Live>,
}

#[derive(Debug)]
struct Live {
    number: u64,
    events: Receiver<Arc<Event>>,
}

impl Watch {
    pub(crate) fn new(
        shared: Arc<Shared>,
        prefix: &str,
        after: Revision,
    ) -> Result<Self, ReadError> {
        let next = {
            let state = shared.state();
            state.check(after)?;
            state.history().after(after)
        };
        let (prefix, read) = (Box::from(prefix), VecDeque::new());
        Ok(Self { shared, prefix, next, read, live: None })
    }

    /// Waits for the next change. After an error there is none. May be cancelled.
    pub async fn next(&mut self) -> Result<Arc<Event>, WatchError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(event);
            }
            match &mut self.live {
                None => self.read_history()?,
                Some(live) => match live.events.recv().await {
                    Some(event) => {
                        self.next = event.sequence + 1;
                        return Ok(event);
                    }
                    None => self.live = None,
                },
            }
        }
    }

    /// A revision up to which all changes have been returned; `None` while more are waiting.
    pub fn progress(&mut self) -> Option<Revision> {
        if self.read.is_empty() && self.live.is_none() {
            self.read_history().ok()?;
        }
        let watchers = self.shared.watchers();
        let live = self.live.as_ref()?;
        let idle = self.read.is_empty() && live.events.is_empty() && !live.events.is_closed();
        idle.then(|| watchers.revision())
    }

    /// Reads on in history, or begins to wait for new events if there is no more of it.
    fn read_history(&mut self) -> Result<(), WatchError> {
        let is_kept = self.read_step();
        // Nothing is published while this is held.
        let mut watchers = self.shared.watchers();
        let is_end = !is_kept || self.next == self.shared.state().history().end();
        if watchers.is_closed() {
            let is_over = is_end && self.read.is_empty();
            return if is_over { Err(WatchError::Closed) } else { Ok(()) };
        }
        if !is_kept {
            return Err(WatchError::Lagged);
        }
        if is_end {
            let (number, events) = watchers.add(&self.prefix);
            self.live = Some(Live { number, events });
        }
        Ok(())
    }

    /// Reads some of history. Returns whether it was still there.
    fn read_step(&mut self) -> bool {
        let state = self.shared.state();
        let Some(events) = state.history().from(self.next) else { return false };
        for event in events.take(STEP) {
            self.next = event.sequence + 1;
            if event.key.starts_with(&*self.prefix) {
                self.read.push_back(Arc::clone(event));
            }
        }
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            self.shared.watchers().remove(&self.prefix, live.number);
        }
    }
}
