//! How the user stops a command that talks to a cluster.

use std::future::Future;

use crate::error::{CommandError, Failure};

/// Does `work` until it is done or the user presses Ctrl-C.
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
