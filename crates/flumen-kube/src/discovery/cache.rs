//! What is known of kinds, and since when.

use std::{sync::Arc, time::Duration};

use parking_lot::RwLock;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::Instant,
};

use super::Kinds;

/// How long the server is not asked again for a kind that it did not know.
const FRESH: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: RwLock<Option<(Arc<Kinds>, Instant)>>,
    /// Whoever holds it asks the server; the others wait for the answer.
    refresh: Mutex<()>,
}

impl Cache {
    pub(super) fn current(&self) -> Option<Arc<Kinds>> {
        let known = self.known.read();
        known.as_ref().map(|(kinds, _)| kinds.clone())
    }

    pub(super) fn is_fresh(&self) -> bool {
        let known = self.known.read();
        known.as_ref().is_some_and(|(_, since)| since.elapsed() < FRESH)
    }

    pub(super) async fn refreshing(&self) -> MutexGuard<'_, ()> {
        self.refresh.lock().await
    }

    pub(super) fn store(&self, kinds: &Arc<Kinds>) {
        let known = Some((kinds.clone(), Instant::now()));
        *self.known.write() = known;
    }

    pub(crate) fn forget(&self) {
        *self.known.write() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_known_grows_old() {
        let cache = Cache::default();
        assert!(cache.current().is_none() && !cache.is_fresh());
        cache.store(&Arc::default());
        assert!(cache.current().is_some() && cache.is_fresh());
        tokio::time::advance(FRESH).await;
        assert!(cache.current().is_some() && !cache.is_fresh());
        cache.forget();
        assert!(cache.current().is_none());
    }
}
