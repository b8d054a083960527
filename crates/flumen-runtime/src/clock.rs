//! The time of day, as a parameter.

use std::{fmt, sync::Arc};

use jiff::Timestamp;

/// Tells the time that statuses and events bear. Tests set one of their own.
///
/// Waits are measured by the timer of the async runtime, which tests can pause.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Returns a clock that calls a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the clock of the system.
    pub fn system() -> Self {
        Self::new(Timestamp::now)
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now", &self.now()).finish()
    }
}
