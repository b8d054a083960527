//! Moves one blob.

use std::{
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::Copier;
use crate::{Descriptor, Repository, Result};

/// How often content is sent again when a connection breaks on the way.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// How a blob came to be at the destination.
pub(super) enum Outcome {
    Copied,
    Present,
    Mounted,
}

impl Copier {
    /// Makes sure that `to` has a blob.
    pub(super) async fn transfer(
        &self,
        from: &Repository,
        blob: &Descriptor,
        to: &Repository,
    ) -> Result<Outcome> {
        let known = (to.to_string(), blob.digest.clone());
        if locked(&self.present).contains(&known) {
            self.options.observer.done(blob.size);
            return Ok(Outcome::Present);
        }
        // The semaphore is never closed; without a permit the work would merely be less orderly.
        let _way = self.ways.acquire().await.ok();
        let outcome = if self.mount(from, blob, to).await {
            self.options.observer.done(blob.size);
            Outcome::Mounted
        } else if to.has_blob(blob).await? {
            self.options.observer.done(blob.size);
            Outcome::Present
        } else {
            self.send(from, blob, to).await?;
            Outcome::Copied
        };
        locked(&self.present).insert(known);
        Ok(outcome)
    }

    /// Lets the registry take the blob from its other repository, if both are on one.
    async fn mount(&self, from: &Repository, blob: &Descriptor, to: &Repository) -> bool {
        let (Repository::Remote(source), Repository::Remote(destination)) = (from, to) else {
            return false;
        };
        let name = to.to_string();
        let is_possible = destination.shares_registry(source)
            && destination.path() != source.path()
            && !locked(&self.unmountable).contains(&name);
        if !is_possible {
            return false;
        }
        // What cannot be mounted can still be copied. If that is forbidden too, it will say so.
        let is_mounted = destination.mount_blob(blob, source.path()).await.unwrap_or(false);
        if !is_mounted {
            locked(&self.unmountable).insert(name);
        }
        is_mounted
    }

    /// Sends a blob, again from the start if a connection breaks.
    async fn send(&self, from: &Repository, blob: &Descriptor, to: &Repository) -> Result<()> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let passed = Arc::new(AtomicU64::new(0));
            let error = match self.send_once(from, blob, to, &passed).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            self.options.observer.lost(passed.load(Ordering::Relaxed));
            if attempt == ATTEMPTS || !error.is_transient() {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
            attempt += 1;
        }
    }

    async fn send_once(
        &self,
        from: &Repository,
        blob: &Descriptor,
        to: &Repository,
        passed: &Arc<AtomicU64>,
    ) -> Result<()> {
        let (observer, passed) = (Arc::clone(&self.options.observer), Arc::clone(passed));
        let content = from.blob(blob).await?.map(move |piece| {
            if let Ok(piece) = &piece {
                passed.fetch_add(piece.len() as u64, Ordering::Relaxed);
                observer.done(piece.len() as u64);
            }
            piece
        });
        to.put_blob(blob, content).await
    }
}

fn locked<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    // A set is whole whatever happens to those who use it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
