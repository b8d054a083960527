//! What copies teach those that come after them in the same run: what is known is not asked again.
//!
//! Registries have much to do for every request, and a mirror of many small artifacts is nothing but
//! requests. Nothing here decides what is copied; it only saves questions whose answer is certain, or
//! so likely that being wrong costs less than asking.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::{Digest, Repository, Result};

/// So many equal answers are enough to expect the next one; so many questions pay for a list.
const ENOUGH: u32 = 8;
/// A longer list of tags costs more requests than it saves.
const MAX_TAGS: usize = 5_000;

/// What is known about repositories, by their address.
#[derive(Debug, Default)]
pub(super) struct Memory {
    sources: Mutex<HashMap<String, Arc<Source>>>,
    destinations: Mutex<HashMap<String, Arc<Destination>>>,
}

impl Memory {
    pub(super) fn source(&self, from: &Repository) -> Arc<Source> {
        entry(&self.sources, from.to_string())
    }

    pub(super) fn destination(&self, to: &Repository) -> Arc<Destination> {
        entry(&self.destinations, to.to_string())
    }
}

/// A repository that is read.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Whether the registry keeps lists of referrers.
    pub(super) keeps_referrers: Experience,
    questions: AtomicU32,
    tags: OnceCell<Option<HashSet<String>>>,
}

impl Source {
    /// Every tag, if many have asked about them and the list is not too long. Without it each tag has to
    /// be looked for.
    pub(super) async fn tags(&self, from: &Repository) -> Option<&HashSet<String>> {
        if self.questions.fetch_add(1, Relaxed) < ENOUGH {
            return self.tags.get()?.as_ref();
        }
        let list = async || {
            // Who may not list can still look.
            let tags = from.tags_up_to(MAX_TAGS).await.ok()?;
            tags.map(|tags| tags.into_iter().collect())
        };
        self.tags.get_or_init(list).await.as_ref()
    }

    /// Every tag, for whoever needs the list itself.
    pub(super) async fn all_tags(&self, from: &Repository) -> Result<Vec<String>> {
        let tags = from.tags().await?;
        // Somebody else may have been faster, with the same list.
        let _ = self.tags.set(Some(tags.iter().cloned().collect()));
        Ok(tags)
    }
}

/// A repository that is written.
#[derive(Debug, Default)]
pub(super) struct Destination {
    /// Whether blobs are there before they are sent.
    pub(super) has_blobs: Experience,
    /// Whether blobs can be mounted. One refusal is enough: it comes with an upload that was begun.
    pub(super) refuses_mounts: AtomicBool,
    blobs: Mutex<HashMap<Digest, Arc<OnceCell<()>>>>,
}

impl Destination {
    /// What is full once the blob is there. Who fills it keeps others from sending the same.
    pub(super) fn blob(&self, digest: &Digest) -> Arc<OnceCell<()>> {
        entry(&self.blobs, digest.clone())
    }
}

/// Learns from answers that are always no.
#[derive(Debug, Default)]
pub(super) struct Experience {
    refusals: AtomicU32,
    has_agreed: AtomicBool,
}

impl Experience {
    pub(super) fn expects_no(&self) -> bool {
        !self.has_agreed.load(Relaxed) && self.refusals.load(Relaxed) >= ENOUGH
    }

    pub(super) fn learn(&self, answer: bool) {
        if answer {
            self.has_agreed.store(true, Relaxed);
        } else {
            self.refusals.fetch_add(1, Relaxed);
        }
    }
}

/// The value for `key`, made if it is missing.
fn entry<K: std::hash::Hash + Eq, V: Default>(map: &Mutex<HashMap<K, Arc<V>>>, key: K) -> Arc<V> {
    // A map is whole whatever happens to those who use it.
    let mut map = map.lock();
    Arc::clone(map.entry(key).or_default())
}
