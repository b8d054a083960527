//! What earlier uploads taught about a registry.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use parking_lot::Mutex;
use reqwest::Url;

use crate::Digest;

/// Uploads that nobody goes on with are forgotten beyond this number.
const MAX_STARTED: usize = 256;

#[derive(Debug, Default)]
pub(in crate::client) struct UploadMemory {
    no_whole_posts: AtomicBool,
    pieces: AtomicBool,
    /// Uploads that the registry started when it was asked to mount something that it could not.
    started: Mutex<HashMap<(String, Digest), Url>>,
}

impl UploadMemory {
    pub(super) fn takes_whole_posts(&self) -> bool {
        !self.no_whole_posts.load(Relaxed)
    }

    pub(super) fn takes_no_whole_posts(&self) {
        self.no_whole_posts.store(true, Relaxed);
    }

    pub(super) fn wants_pieces(&self) -> bool {
        self.pieces.load(Relaxed)
    }

    pub(super) fn want_pieces(&self) {
        self.pieces.store(true, Relaxed);
    }

    pub(super) fn keep_started(&self, repository: &str, digest: &Digest, location: Url) {
        let mut started = self.started.lock();
        if started.len() < MAX_STARTED {
            started.insert((repository.to_owned(), digest.clone()), location);
        }
    }

    pub(super) fn take_started(&self, repository: &str, digest: &Digest) -> Option<Url> {
        let mut started = self.started.lock();
        if started.is_empty() {
            return None;
        }
        started.remove(&(repository.to_owned(), digest.clone()))
    }
}
