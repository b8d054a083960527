//! The one thread that changes the store.
//!
//! It takes all transactions that wait, checks each against what its predecessors leave, commits
//! the changes of all of them at once, publishes them and answers. While it waits for the disk the
//! next transactions gather, so the number of flushes hardly grows with the number of writers.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
};

use tokio::sync::{mpsc, oneshot};

use crate::{
    database::Database,
    entry::{Entry, Event, Revision},
    error::CommitError,
    state::State,
    store::Shared,
    transaction::Transaction,
};

/// Transactions that wait, and that share a flush.
pub(crate) const QUEUE: usize = 256;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) transaction: Transaction,
    pub(crate) answer: oneshot::Sender<Result<Revision, CommitError>>,
}

pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    /// `None` keeps everything in memory.
    pub(crate) database: Option<Database>,
}

impl Writer {
    /// Runs until the other end of the queue is gone.
    pub(crate) fn start(self, queue: mpsc::Receiver<Request>) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name("store".to_owned()).spawn(move || self.run(queue))
    }

    fn run(mut self, mut queue: mpsc::Receiver<Request>) {
        let mut requests = Vec::with_capacity(QUEUE);
        while queue.blocking_recv_many(&mut requests, QUEUE) > 0 {
            self.commit(&mut requests);
        }
        self.shared.watchers().close();
    }

    fn commit(&mut self, requests: &mut Vec<Request>) {
        let mut batch = Batch::default();
        let mut answers = Vec::with_capacity(requests.len());
        {
            let state = self.shared.state();
            for Request { transaction, answer } in requests.drain(..) {
                answers.push((answer, batch.add(&state, transaction)));
            }
        }
        let events = batch.events;
        let failure = self.write(&events).err();
        let is_written = failure.is_none() || self.was_written(&events);

        // Held until all have their events, so that no watch begins in between.
        let mut watchers = self.shared.watchers();
        if is_written {
            self.shared.state_mut().apply(&events);
        }
        for (answer, result) in answers {
            // A conflict may be with a change that failed, so all are told of the failure.
            let result = failure.clone().map_or(result, Err);
            // Who does not wait any more need not know.
            let _ = answer.send(result);
        }
        if is_written {
            watchers.dispatch(&events);
        }
    }

    fn write(&self, events: &[Arc<Event>]) -> Result<(), CommitError> {
        let Some(database) = self.database.as_ref().filter(|_| !events.is_empty()) else {
            return Ok(());
        };
        self.shared.flushes.fetch_add(1, Ordering::Relaxed);
        database.write(events).map_err(|source| CommitError::Storage { source: Arc::new(source) })
    }

    /// Whether changes are in the file although writing them failed. If so readers must see them,
    /// or the next writers would build on something else than the file.
    fn was_written(&mut self, events: &[Arc<Event>]) -> bool {
        let found = self.database.as_mut().and_then(Database::reopen);
        found.is_some() && found == events.last().map(|event| event.revision)
    }
}

/// The changes of transactions that are committed together.
#[derive(Debug, Default)]
struct Batch {
    events: Vec<Arc<Event>>,
    /// The last event of each key.
    last: HashMap<Arc<str>, usize>,
}

impl Batch {
    fn add(&mut self, state: &State, transaction: Transaction) -> Result<Revision, CommitError> {
        transaction.check(|key| self.current(state, key))?;
        let before = self.events.last().map_or(state.revision(), |event| event.revision);
        let revision = before + 1;
        let first = self.events.len();
        for (key, value) in transaction.into_changes() {
            let previous = self.current(state, &key).cloned();
            if value.is_none() && previous.is_none() {
                continue;
            }
            let created = previous.as_ref().map_or(revision, |previous| previous.created);
            let entry = value.map(|value| Entry { value, revision, created });
            let key = self.share(state, &key);
            let sequence = state.history().end() + self.events.len() as u64;
            self.last.insert(Arc::clone(&key), self.events.len());
            self.events.push(Arc::new(Event { revision, key, entry, previous, sequence }));
        }
        Ok(if self.events.len() > first { revision } else { before })
    }

    /// What a key holds after the transactions so far.
    fn current<'a>(&'a self, state: &'a State, key: &str) -> Option<&'a Entry> {
        match self.last.get(key) {
            Some(&index) => self.events[index].entry.as_ref(),
            None => state.get(key),
        }
    }

    fn share(&self, state: &State, key: &str) -> Arc<str> {
        match self.last.get_key_value(key) {
            Some((key, _)) => Arc::clone(key),
            None => state.share(key),
        }
    }
}
