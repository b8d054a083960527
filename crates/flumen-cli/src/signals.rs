//! Signals that stop a command.

use std::future::Future;

use crate::error::{CommandError, Failure};

/// Runs `work` until it is done or the user presses Ctrl-C.
///
/// A run can be stopped anywhere: its inventory names what may have appeared, and the next run goes on.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    tokio::select! {
        result = work => result,
        Ok(()) = tokio::signal::ctrl_c() => Err(Failure::new("interrupted")
            .hint("nothing is lost: running the same command again goes on from here")
            .into()),
    }
}

/// Signals for the graceful shutdown of a server.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// From here on the signals do not end the process by themselves.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let terminate = signal(SignalKind::terminate())
                .map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))?;
            Ok(Self { terminate })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    #[cfg(unix)]
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
