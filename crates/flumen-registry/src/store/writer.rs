//! The thread that commits.

use std::{io, path::PathBuf, sync::Arc, thread};

use redb::Database;
use tokio::sync::{mpsc, oneshot};

use super::{Refusal, batch::Batch, files::Files};
use crate::{Error, Result};

/// Changes that wait for a commit; more than this many wait to be submitted.
const QUEUE: usize = 256;

/// The change was not made, for a reason that is not the client's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("database")]
    Database(#[from] redb::Error),
    #[error("cannot write `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another change of the same commit failed.
    #[error("the commit failed")]
    Together,
    #[error("the registry is shutting down")]
    Stopped,
}

impl From<redb::StorageError> for WriteError {
    fn from(error: redb::StorageError) -> Self {
        Self::Database(error.into())
    }
}

#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    pub(super) fn start(database: Arc<Database>, files: Arc<Files>) -> Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let path = files.root().to_owned();
        thread::Builder::new()
            .name("registry-writer".to_owned())
            .spawn(move || run(&database, &files, jobs))
            .map_err(|source| Error::Storage { action: "start writing to", path, source })?;
        Ok(Self { queue })
    }

    pub(super) async fn submit<T, F>(&self, change: F) -> Result<Result<T, Refusal>, WriteError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Batch<'_>) -> Result<Result<T, Refusal>, WriteError> + Send + 'static,
    {
        let (reply, outcome) = oneshot::channel();
        let job = Pending { change: Some(change), outcome: None, reply };
        self.queue.send(Box::new(job)).await.map_err(|_| WriteError::Stopped)?;
        outcome.await.map_err(|_| WriteError::Stopped)?
    }
}

/// A change and whom to tell about it.
trait Job: Send {
    /// Makes the change within the batch. An error means that the batch cannot be committed.
    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<(), WriteError>;
    fn committed(self: Box<Self>);
    fn failed(self: Box<Self>, error: WriteError);
}

struct Pending<T, F> {
    change: Option<F>,
    outcome: Option<Result<T, Refusal>>,
    reply: oneshot::Sender<Result<Result<T, Refusal>, WriteError>>,
}

impl<T, F> Job for Pending<T, F>
where
    T: Send,
    F: FnOnce(&mut Batch<'_>) -> Result<Result<T, Refusal>, WriteError> + Send,
{
    fn apply(&mut self, batch: &mut Batch<'_>) -> Result<(), WriteError> {
        if let Some(change) = self.change.take() {
            self.outcome = Some(change(batch)?);
        }
        Ok(())
    }

    fn committed(self: Box<Self>) {
        let outcome = self.outcome.ok_or(WriteError::Stopped);
        // The client may have gone; the change is made all the same.
        let _ = self.reply.send(outcome);
    }

    fn failed(self: Box<Self>, error: WriteError) {
        let _ = self.reply.send(Err(error));
    }
}

/// Takes what waits, commits it, tells everyone; until nobody can submit any more.
fn run(database: &Database, files: &Files, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut waiting = Vec::new();
    while jobs.blocking_recv_many(&mut waiting, QUEUE) > 0 {
        match commit(database, files, &mut waiting) {
            Ok(()) => waiting.drain(..).for_each(Job::committed),
            Err((culprit, error)) => {
                let mut error = Some(error);
                for (position, job) in waiting.drain(..).enumerate() {
                    let own = if position == culprit { error.take() } else { None };
                    job.failed(own.unwrap_or(WriteError::Together));
                }
            }
        }
    }
}

/// Commits all changes or none; the error comes with the position of the change that met it.
fn commit(
    database: &Database,
    files: &Files,
    jobs: &mut [Box<dyn Job>],
) -> Result<(), (usize, WriteError)> {
    let shared = |error: WriteError| (0, error);
    let transaction =
        database.begin_write().map_err(|error| shared(redb::Error::from(error).into()))?;
    let mut batch = Batch::new(&transaction, files);
    for (position, job) in jobs.iter_mut().enumerate() {
        job.apply(&mut batch).map_err(|error| (position, error))?;
    }
    let Batch { doomed, named_files, .. } = batch;
    if named_files {
        files.sync_names().map_err(shared)?;
    }
    transaction.commit().map_err(|error| shared(redb::Error::from(error).into()))?;
    for digest in &doomed {
        files.remove(digest);
    }
    Ok(())
}
