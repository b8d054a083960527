//! What time it is, so that tests need not wait.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

/// The time that controllers go by. Clones tell the same time.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Set(Arc<watch::Sender<Timestamp>>),
}

impl Clock {
    /// The time of this machine.
    pub(crate) fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until [`Clock::advance`].
    pub fn set_to(now: Timestamp) -> Self {
        Self(Source::Set(Arc::new(watch::Sender::new(now))))
    }

    /// Moves a clock that was set; the one of this machine goes by itself.
    pub fn advance(&self, by: Duration) {
        if let Source::Set(time) = &self.0 {
            time.send_modify(|now| *now = later(*now, by));
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => Timestamp::now(),
            Source::Set(time) => *time.borrow(),
        }
    }

    /// Waits until a time, or forever if there is none.
    pub(crate) async fn until(&self, time: Option<Timestamp>) {
        let Some(time) = time else { return std::future::pending().await };
        match &self.0 {
            Source::System => {
                let left = time.duration_since(Timestamp::now());
                tokio::time::sleep(left.try_into().unwrap_or_default()).await;
            }
            Source::Set(now) => {
                // The sender is part of the clock, so it outlives this.
                let _ = now.subscribe().wait_for(|now| *now >= time).await;
            }
        }
    }
}

/// A time and a span after it.
pub(crate) fn later(time: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

pub(crate) fn seconds_later(time: Timestamp, seconds: i64) -> Timestamp {
    time.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}
