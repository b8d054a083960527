//! Moves one blob.

use std::sync::atomic::Ordering::Relaxed;

use super::{Copier, memory::Destination};
use crate::{Descriptor, Repository, Result, client::MAX_SMALL, send::send};

/// How a blob came to be at the destination.
pub(super) enum Outcome {
    Copied,
    Present,
    Mounted,
    /// The source does not have it either; its manifest says where it is.
    Elsewhere,
}

impl Copier {
    /// Makes sure that `to` has a blob.
    pub(super) async fn transfer(
        &self,
        from: &Repository,
        blob: &Descriptor,
        to: &Repository,
    ) -> Result<Outcome> {
        let destination = self.memory.destination(to);
        let mut outcome = Outcome::Present;
        let is_there = destination.blob(&blob.digest);
        is_there
            .get_or_try_init(async || {
                // The semaphore is never closed; without a permit the work would merely be less orderly.
                let _way = self.ways.acquire().await.ok();
                outcome = self.deliver(from, blob, to, &destination).await?;
                Ok::<(), crate::Error>(())
            })
            .await?;
        if !matches!(outcome, Outcome::Copied) {
            self.options.watch.done(blob.size);
        }
        Ok(outcome)
    }

    async fn deliver(
        &self,
        from: &Repository,
        blob: &Descriptor,
        to: &Repository,
        destination: &Destination,
    ) -> Result<Outcome> {
        if mount(from, blob, to, destination).await {
            return Ok(Outcome::Mounted);
        }
        // Sending a small blob in vain costs two requests, asking costs one for every blob that is missing.
        let is_asking_dear = matches!(to, Repository::Remote(_)) && blob.size <= MAX_SMALL;
        if !(is_asking_dear && destination.has_blobs.expects_no()) {
            let is_there = to.has_blob(blob).await?;
            destination.has_blobs.learn(is_there);
            if is_there {
                return Ok(Outcome::Present);
            }
        }
        match send(blob, to, &self.options.watch, async || from.blob(blob).await).await {
            Ok(()) => Ok(Outcome::Copied),
            Err(error) if error.is_not_found() && !blob.urls.is_empty() => {
                // The destination may be what was not found.
                if from.has_blob(blob).await? { Err(error) } else { Ok(Outcome::Elsewhere) }
            }
            Err(error) => Err(error),
        }
    }
}

/// Lets the registry take the blob from its other repository, if both are on one.
async fn mount(
    from: &Repository,
    blob: &Descriptor,
    to: &Repository,
    destination: &Destination,
) -> bool {
    let (Repository::Remote(source), Repository::Remote(target)) = (from, to) else {
        return false;
    };
    let is_possible = target.shares_registry(source)
        && target.path() != source.path()
        && !destination.refuses_mounts.load(Relaxed);
    if !is_possible {
        return false;
    }
    // What cannot be mounted can still be copied. If that is forbidden too, it will say so.
    let is_mounted = target.mount_blob(blob, source.path()).await.unwrap_or(false);
    if !is_mounted {
        destination.refuses_mounts.store(true, Relaxed);
    }
    is_mounted
}
