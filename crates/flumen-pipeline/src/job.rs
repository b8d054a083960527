//! The life of a job.
//!
//! ```text
//! reset ─▶ fetch ─▶ validate ─▶ initialize ─▶ execute ─▶ outputs ─▶ cleanup
//! └────────── initializing ──────────────┘    └─ in-progress ──┘    cleaning-up
//! ```
//!
//! A step that fails, panics, takes too long or is cancelled is the last one before the cleanup,
//! which always runs: neither cancellation nor the deadline reaches it.

use std::{any::Any, fmt, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
pub use tokio_util::sync::CancellationToken;

use crate::Error;

/// Long enough to remove a directory, short enough that a cancelled job ends within two seconds.
const CLEANUP_PATIENCE: Duration = Duration::from_secs(1);

/// What a job does, one thing after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Reset,
    Fetch,
    Validate,
    Initialize,
    Execute,
    Outputs,
    Cleanup,
}

impl Step {
    /// All steps but the cleanup, which is no part of the work.
    const WORK: [Self; 6] =
        [Self::Reset, Self::Fetch, Self::Validate, Self::Initialize, Self::Execute, Self::Outputs];

    /// The status of a job during this step.
    pub const fn status(self) -> Status {
        match self {
            Self::Reset | Self::Fetch | Self::Validate | Self::Initialize => Status::Initializing,
            Self::Execute | Self::Outputs => Status::InProgress,
            Self::Cleanup => Status::CleaningUp,
        }
    }
}

/// Where a job is, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Initializing,
    InProgress,
    CleaningUp,
    Finished,
    Failed,
    TimedOut,
    Cancelled,
    NotAttempted,
    Unknown,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Initializing => "initializing",
            Self::InProgress => "in-progress",
            Self::CleaningUp => "cleaning-up",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::NotAttempted => "not-attempted",
            Self::Unknown => "unknown",
        })
    }
}

/// Hears what a job does while it does it.
pub trait Observer: Send + Sync {
    fn status(&self, status: Status);

    fn log(&self, line: &str);
}

/// The work of one type of job.
pub trait Handler {
    /// Does what a step is for. It is dropped where it waits when the job ends early.
    fn perform(&mut self, step: Step) -> impl Future<Output = Result<(), Error>>;

    /// Tells work on other threads that nobody waits for it any more.
    fn shut_down(&mut self);
}

/// Why a job did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    #[error(transparent)]
    Failed(Error),
    #[error("the job panicked: {0}")]
    Panicked(String),
    #[error("the job took longer than {0:?}")]
    TimedOut(Duration),
    #[error("the job was cancelled")]
    Cancelled,
    #[error("the job was cancelled before it began")]
    NotAttempted,
}

impl Ended {
    pub const fn status(&self) -> Status {
        match self {
            Self::Failed(_) | Self::Panicked(_) => Status::Failed,
            Self::TimedOut(_) => Status::TimedOut,
            Self::Cancelled => Status::Cancelled,
            Self::NotAttempted => Status::NotAttempted,
        }
    }
}

/// Runs a job to its end, whatever that is.
pub async fn run(
    handler: &mut impl Handler,
    timeout: Duration,
    cancel: &CancellationToken,
    observer: &dyn Observer,
) -> Result<(), Ended> {
    let deadline = Instant::now() + timeout;
    let mut status = None;
    let mut result = Ok(());
    for step in Step::WORK {
        if status.replace(step.status()) != Some(step.status()) {
            observer.status(step.status());
        }
        result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Ended::Cancelled),
            () = tokio::time::sleep_until(deadline) => Err(Ended::TimedOut(timeout)),
            result = attempt(handler, step) => result,
        };
        if result.is_err() {
            handler.shut_down();
            break;
        }
    }
    observer.status(Status::CleaningUp);
    match tokio::time::timeout(CLEANUP_PATIENCE, attempt(handler, Step::Cleanup)).await {
        Ok(Ok(())) => {}
        // The work itself is done or has its own failure; what is left behind is worth a line.
        Ok(Err(error)) => observer.log(&format!("cleanup failed: {error}")),
        Err(_) => observer.log("cleanup did not end in time"),
    }
    observer.status(result.as_ref().map_or_else(Ended::status, |()| Status::Finished));
    result
}

/// Performs a step; a panic is a failure like others.
async fn attempt(handler: &mut impl Handler, step: Step) -> Result<(), Ended> {
    match AssertUnwindSafe(handler.perform(step)).catch_unwind().await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Ended::Failed(error)),
        Err(panic) => Err(Ended::Panicked(panic_message(&*panic).to_owned())),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "for an unknown reason",
    }
}

#[cfg(test)]
mod tests;
