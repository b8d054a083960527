//! The store as others use it.

use std::{path::Path, sync::Arc, thread::JoinHandle};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Options,
    database::{Content, Database, FIRST_REVISION},
    entry::{Entry, Revision},
    error::{CommitError, OpenError, ReadError},
    state::{Page, Range, State},
    transaction::Transaction,
    watch::Watch,
    watchers::Watchers,
    writer::{Message, QUEUE, Request, Writer},
};

/// A handle of a store; clones are handles of the same store.
///
/// Dropping the last handle waits until everything queued is on the disk and the file is closed.
/// [`Store::close`] does the same while others still have handles.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    /// Present until the store is dropped.
    queue: Option<mpsc::Sender<Message>>,
    writer: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens a file, or makes it. Reads all of it, so call it where waiting is allowed.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        let (database, content) = Database::open(path)?;
        Self::start(content, Some(database), options)
            .map_err(|source| OpenError::Io { path: path.to_owned(), source })
    }

    /// A store that is gone when its last handle is dropped.
    pub fn in_memory(options: Options) -> std::io::Result<Self> {
        let content = Content { revision: FIRST_REVISION, entries: Vec::new() };
        Self::start(content, None, options)
    }

    fn start(
        content: Content,
        database: Option<Database>,
        options: Options,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new(content, options));
        let (queue, requests) = mpsc::channel(QUEUE);
        let writer = Writer::new(Arc::clone(&shared), database).start(requests)?;
        let inner = Inner { shared, queue: Some(queue), writer: Some(writer) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The newest revision that readers see.
    pub fn revision(&self) -> Revision {
        self.inner.shared.state().revision()
    }

    /// The oldest revision that can be read, and that a watch can begin after.
    pub fn compacted(&self) -> Revision {
        self.inner.shared.state().history().compacted()
    }

    pub fn get(&self, key: &str) -> Option<Entry> {
        self.inner.shared.state().get(key).cloned()
    }

    pub fn range(&self, range: &Range<'_>) -> Result<Page, ReadError> {
        self.inner.shared.state().range(range)
    }

    /// The number of entries in a range, whatever its limit is.
    pub fn count(&self, range: &Range<'_>) -> Result<usize, ReadError> {
        self.inner.shared.state().count(range)
    }

    /// Does what a transaction says and returns its revision, or that of the store if nothing
    /// changed. When this returns, the disk has it and readers see it.
    ///
    /// A transaction that was queued takes place even if the caller stops waiting.
    pub async fn commit(&self, transaction: Transaction) -> Result<Revision, CommitError> {
        transaction.validate()?;
        let queue = self.inner.queue.as_ref().ok_or(CommitError::Closed)?;
        let (answer, answered) = oneshot::channel();
        let commit = Message::Commit(Request { transaction, answer });
        queue.send(commit).await.map_err(|_| CommitError::Closed)?;
        answered.await.map_err(|_| CommitError::Closed)?
    }

    /// Changes of all keys with a prefix, beginning after a revision.
    pub fn watch(&self, prefix: &str, after: Revision) -> Result<Watch, ReadError> {
        Watch::new(Arc::clone(&self.inner.shared), prefix, after)
    }

    /// Forgets what was replaced or deleted up to a revision. Reads before it are refused, and
    /// watches that would begin before it.
    pub fn compact(&self, revision: Revision) -> Result<(), ReadError> {
        self.inner.shared.state_mut().compact(revision)
    }

    /// Waits until everything queued is on the disk and the file is closed. Later commits are
    /// refused and watches end; what is in memory can still be read.
    pub async fn close(&self) {
        let Some(queue) = &self.inner.queue else { return };
        let (close, closed) = oneshot::channel();
        if queue.send(Message::Close(close)).await.is_ok() {
            // An error says that another has closed it.
            let _ = closed.await;
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was reported when it happened.
            let _ = writer.join();
        }
    }
}

/// What the writer changes and others read. Who needs both locks takes `watchers` first.
#[derive(Debug)]
pub(crate) struct Shared {
    state: RwLock<State>,
    watchers: Mutex<Watchers>,
}

impl Shared {
    pub(crate) fn new(content: Content, options: Options) -> Self {
        let Content { revision, entries } = content;
        Self {
            state: RwLock::new(State::new(revision, entries, options)),
            watchers: Mutex::new(Watchers::new(revision)),
        }
    }

    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    pub(crate) fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write()
    }

    pub(crate) fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock()
    }
}
