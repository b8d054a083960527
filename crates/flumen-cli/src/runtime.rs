//! Where commands that talk to the outside world wait for it.

use std::{future::Future, io};

use crate::error::{CommandError, Failure};

/// Runs a command to its end. Commands that only compute never come here and pay for no threads.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error: io::Error| Failure::new(format!("cannot start: {error}")))?;
    let result = runtime.block_on(work);
    // What is still running on other threads cannot change the result any more.
    runtime.shutdown_background();
    result
}
