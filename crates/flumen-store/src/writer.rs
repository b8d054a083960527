//! The one thread that changes the store.
//!
//! It takes all transactions that wait, checks each against what its predecessors leave, commits
//! the changes of all of them at once, publishes them and answers. While it waits for the disk the
//! next transactions gather, so the number of flushes hardly grows with the number of writers.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    io, mem,
    sync::Arc,
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
pub(crate) enum Message {
    Commit(Request),
    /// Answered when the file is closed.
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) transaction: Transaction,
    pub(crate) answer: Answer,
}

type Answer = oneshot::Sender<Result<Revision, CommitError>>;

pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// `None` keeps everything in memory.
    database: Option<Database>,
    /// Changes that the file may hold or not, since writing them failed.
    doubtful: Vec<Arc<Event>>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, database: Option<Database>) -> Self {
        Self { shared, database, doubtful: Vec::new() }
    }

    /// Runs until it is told to close, or the other end of the queue is gone.
    pub(crate) fn start(self, queue: mpsc::Receiver<Message>) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name("store".to_owned()).spawn(move || self.run(queue))
    }

    fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        let mut messages = Vec::with_capacity(QUEUE);
        let mut closers = Vec::new();
        while closers.is_empty() && queue.blocking_recv_many(&mut messages, QUEUE) > 0 {
            self.commit(messages.drain(..).filter_map(|message| match message {
                Message::Commit(request) => Some(request),
                Message::Close(closed) => {
                    closers.push(closed);
                    None
                }
            }));
        }
        // Before anyone learns that the store is closed, so that they may open the file.
        self.database = None;
        self.shared.watchers().close();
        // What comes too late is told so, and who waits for the end sees the queue end.
        drop(queue);
        for closed in closers {
            let _ = closed.send(());
        }
    }

    fn commit(&mut self, requests: impl Iterator<Item = Request>) {
        let recovered = self.recover();
        let mut batch = Batch::default();
        let mut answers = Vec::new();
        {
            let state = self.shared.state();
            for Request { transaction, answer } in requests {
                answers.push((answer, batch.add(&state, transaction)));
            }
        }
        match recovered.and_then(|()| self.write(&batch.events)) {
            Ok(()) => self.publish(&batch.events, answers),
            Err(error) => {
                // A conflict may be with a change that failed, so all are told of the failure.
                for (answer, _) in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }

    fn write(&mut self, events: &[Arc<Event>]) -> Result<(), CommitError> {
        let Some(database) = self.database.as_mut().filter(|_| !events.is_empty()) else {
            return Ok(());
        };
        database.write(events).map_err(|error| {
            self.doubtful = events.to_vec();
            CommitError::Storage { source: Arc::new(error) }
        })
    }

    /// After a failure, asks the file whether the changes took place. If so readers must see them,
    /// or the next writers would build on something else than the file.
    fn recover(&mut self) -> Result<(), CommitError> {
        let Some(database) = self.database.as_mut().filter(|database| !database.is_open()) else {
            return Ok(());
        };
        let seen = self.shared.state().revision();
        let doubtful = self.doubtful.last().map_or(seen, |event| event.revision);
        let found = database
            .reopen(&[seen, doubtful])
            .map_err(|refusal| CommitError::Storage { source: Arc::new(refusal) })?;
        let events = mem::take(&mut self.doubtful);
        if found > seen {
            self.publish(&events, Vec::new());
        }
        Ok(())
    }

    /// Shows changes to readers, to those who made them and to watchers.
    fn publish(
        &self,
        events: &[Arc<Event>],
        answers: Vec<(Answer, Result<Revision, CommitError>)>,
    ) {
        // Held until all have their events, so that no watch begins in between.
        let mut watchers = self.shared.watchers();
        self.shared.state_mut().apply(events);
        for (answer, result) in answers {
            // Who does not wait any more need not know.
            let _ = answer.send(result);
        }
        watchers.dispatch(events);
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
