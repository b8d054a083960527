//! Waiting for what is asynchronous, as long as somebody wants it.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::runtime::{Builder, Runtime};

use crate::Error;

/// Long enough to cost nothing, short enough to seem immediate.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// A runtime of the thread that calls it. What runs on it moves on while somebody waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// There until the end.
    runtime: Option<Runtime>,
}

impl Waiter {
    pub(crate) fn new() -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Scratch)?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Waits for an outcome; there is none if `stop` goes up first.
    pub(crate) fn wait<T>(&self, stop: &AtomicBool, work: impl Future<Output = T>) -> Option<T> {
        let stopped = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let outcome = async {
            tokio::select! {
                outcome = work => Some(outcome),
                () = stopped => None,
            }
        };
        self.runtime.as_ref()?.block_on(outcome)
    }
}

impl Drop for Waiter {
    /// Looking up a name cannot be interrupted; nobody waits for it here.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
