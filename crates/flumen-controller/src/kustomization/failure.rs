//! Why a pass did not end in success, and what follows from it.

use std::time::Duration;

use crate::queue::Next;

/// What is said of a pass that stopped.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// What is posted; some states are only shown in the status.
    pub(super) event: Said,
    pub(super) next: Next,
    /// Nothing will be tried until the object changes.
    pub(super) is_terminal: bool,
    /// Work had begun, and will go on.
    pub(super) is_retried: bool,
}

/// The event of a failure.
#[derive(Debug)]
pub(super) enum Said {
    Nothing,
    /// The message of the failure, as an error.
    Message,
    Error(String),
    Info(String),
}

impl Failure {
    /// Work that failed and is tried again after a time.
    pub(super) fn of_work(
        reason: &'static str,
        message: impl Into<String>,
        after: Duration,
    ) -> Self {
        Self {
            reason,
            message: message.into(),
            event: Said::Message,
            next: Next::After(after),
            is_terminal: false,
            is_retried: true,
        }
    }

    /// Something is missing that may come; work has not begun.
    pub(super) fn waiting(reason: &'static str, message: impl Into<String>, next: Next) -> Self {
        Self {
            reason,
            message: message.into(),
            event: Said::Nothing,
            next,
            is_terminal: false,
            is_retried: false,
        }
    }

    /// A mistake in the object itself.
    pub(super) fn terminal(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            event: Said::Message,
            next: Next::Rest,
            is_terminal: true,
            is_retried: false,
        }
    }

    pub(super) fn saying(mut self, event: Said) -> Self {
        self.event = event;
        self
    }
}
