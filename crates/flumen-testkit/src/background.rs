//! A runtime on threads of its own, for fixtures of tests with and without a runtime.

use std::{future::Future, io, sync::mpsc};

use tokio::runtime::{Builder, Runtime};

#[derive(Debug)]
pub(crate) struct Background(Option<Runtime>);

impl Background {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.0 {
            runtime.spawn(work);
        }
    }

    /// Waits for `work`, also where a test is inside of a runtime of its own.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = mpsc::channel();
        self.spawn(async move {
            let _ = sender.send(work.await);
        });
        receiver.recv().map_err(io::Error::other)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Waiting is not allowed where a test has a runtime of its own.
            runtime.shutdown_background();
        }
    }
}
