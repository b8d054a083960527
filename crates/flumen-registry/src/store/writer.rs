//! The thread that commits.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use tokio::sync::{mpsc, oneshot};

use super::{Refusal, Space, StoreError, batch::Batch, database::Database, files::Files};
use crate::{Error, Result};

/// Changes that wait for a commit; more than this many wait to be submitted.
const QUEUE: usize = 256;

#[derive(Debug)]
pub(super) struct Writer {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        database: Arc<Database>,
        files: Arc<Files>,
        space: Arc<Space>,
    ) -> Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let path = files.root().to_owned();
        let committer = Committer { database, files, space };
        let thread = thread::Builder::new()
            .name("registry-writer".to_owned())
            .spawn(move || committer.run(jobs))
            .map_err(|source| Error::Storage { action: "start writing to", path, source })?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) async fn submit<T, F>(&self, change: F) -> Result<Result<T, Refusal>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Batch<'_>) -> Result<Result<T, Refusal>, StoreError> + Send + 'static,
    {
        let (reply, outcome) = oneshot::channel();
        let job = Pending { change: Some(change), outcome: None, reply };
        let queue = self.queue.as_ref().ok_or(StoreError::Stopped)?;
        queue.send(Box::new(job)).await.map_err(|_| StoreError::Stopped)?;
        outcome.await.map_err(|_| StoreError::Stopped)?
    }
}

impl Drop for Writer {
    /// Waits for the last commit, so that the directory is free when the store is gone.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A change and whom to tell about it.
trait Job: Send {
    /// Makes the change within the batch. An error means that the batch cannot be committed.
    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError>;
    fn committed(self: Box<Self>);
    fn failed(self: Box<Self>, error: StoreError);
}

struct Pending<T, F> {
    change: Option<F>,
    outcome: Option<Result<T, Refusal>>,
    reply: oneshot::Sender<Result<Result<T, Refusal>, StoreError>>,
}

impl<T, F> Job for Pending<T, F>
where
    T: Send,
    F: FnOnce(&mut Batch<'_>) -> Result<Result<T, Refusal>, StoreError> + Send,
{
    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError> {
        if let Some(change) = self.change.take() {
            self.outcome = Some(change(batch)?);
        }
        Ok(())
    }

    fn committed(self: Box<Self>) {
        let outcome = self.outcome.ok_or(StoreError::Stopped);
        // The client may have gone; the change is made all the same.
        let _ = self.reply.send(outcome);
    }

    fn failed(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Err(error));
    }
}

struct Committer {
    database: Arc<Database>,
    files: Arc<Files>,
    space: Arc<Space>,
}

impl Committer {
    /// Takes what waits, commits it, tells everyone; until nobody can submit any more.
    fn run(&self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut waiting = Vec::new();
        while jobs.blocking_recv_many(&mut waiting, QUEUE) > 0 {
            match self.commit(&mut waiting) {
                Ok(()) => waiting.drain(..).for_each(Job::committed),
                Err(error) => {
                    if matches!(error, StoreError::Database(_)) {
                        self.database.reopen();
                    }
                    // All share the fate of the commit; each is told the whole reason.
                    let error = Arc::new(error);
                    for job in waiting.drain(..) {
                        job.failed(StoreError::Commit(Arc::clone(&error)));
                    }
                }
            }
        }
    }

    /// Commits all changes or none.
    fn commit(&self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let doomed = self.database.write(|transaction| {
            let mut batch = Batch::new(transaction, &self.files);
            for job in jobs {
                job.apply(&mut batch)?;
            }
            for algorithm in batch.named {
                self.files.sync_names(algorithm)?;
            }
            Ok::<_, StoreError>(batch.doomed)
        })?;
        for (digest, size) in &doomed {
            self.files.remove(digest);
            self.space.give_back(*size);
        }
        Ok(())
    }
}
