//! What ends a server in an orderly way.

use crate::error::{CommandError, Failure};

/// What ends a server in an orderly way.
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
