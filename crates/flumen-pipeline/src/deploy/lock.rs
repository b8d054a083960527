//! One deploy of a component at a time; others of the same install go on.

use std::{
    fs::{File, TryLockError},
    time::Duration,
};

use super::pending::lock_file;
use crate::{Result, State, state::unusable};

/// How often a lock that is taken is tried again. Waiting in the kernel would take a thread that
/// nothing can cancel.
const RETRY: Duration = Duration::from_millis(100);

/// Held while a component of an install is deployed, torn down or looked at for drift.
///
/// The lock is one of the file system, so it goes with the process that holds it.
#[derive(Debug)]
pub struct ComponentLock {
    _file: File,
}

impl ComponentLock {
    /// Waits until nobody else works on the component; tells whether that takes time.
    pub async fn acquire(
        state: &State,
        install: &str,
        component: &str,
        waits: impl FnOnce(),
    ) -> Result<Self> {
        // A dot is no letter of either name.
        let path = state.locks()?.join(format!("{install}.{component}"));
        let file = lock_file(&path).map_err(|source| unusable(&path, source))?;
        let mut waits = Some(waits);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    if let Some(waits) = waits.take() {
                        waits();
                    }
                    tokio::time::sleep(RETRY).await;
                }
                Err(TryLockError::Error(source)) => return Err(unusable(&path, source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn acceptance_39_who_finds_a_component_in_use_waits() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let state = State::new(dir.path().join("data"), dir.path().join("state"));
        let waited = AtomicBool::new(false);
        let waits = || waited.store(true, Ordering::Relaxed);
        let held = ComponentLock::acquire(&state, "prod", "web", || ()).await.expect("free");
        ComponentLock::acquire(&state, "prod", "api", waits).await.expect("another component");
        ComponentLock::acquire(&state, "test", "web", waits).await.expect("another install");
        assert!(!waited.load(Ordering::Relaxed));

        let second = ComponentLock::acquire(&state, "prod", "web", waits);
        let release = async {
            while !waited.load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
            drop(held);
        };
        let (second, ()) = tokio::join!(second, release);
        second.expect("released");
        assert!(waited.load(Ordering::Relaxed));
    }
}
