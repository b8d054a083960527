//! Where commands that talk to the outside world wait for it.

use std::{future::Future, io};

use tokio::runtime::{Builder, Runtime};

use crate::error::{CommandError, Failure};

/// Runs a command to its end. Commands that only compute never come here and pay for no threads.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    run(start(&mut Builder::new_multi_thread())?, work)
}

/// The same for a command whose parts wait for each other most of the time: to wake other threads for each answer would
/// cost more than they save.
pub(crate) fn block_on_one_thread<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    run(start(&mut Builder::new_current_thread())?, work)
}

fn start(builder: &mut Builder) -> Result<Runtime, Failure> {
    builder
        .enable_all()
        .build()
        .map_err(|error: io::Error| Failure::new(format!("cannot start: {error}")))
}

fn run<T>(
    runtime: Runtime,
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let result = runtime.block_on(work);
    // What is still running on other threads cannot change the result any more.
    runtime.shutdown_background();
    result
}
