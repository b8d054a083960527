//! Following the changes of the server: all that are there are taken in, then there is work.

use flumen_apiserver::{Api, Change, Changes, WatchError};
use futures_util::FutureExt;
use jiff::Timestamp;

use crate::Clock;

/// A part that is told every change and works in between.
pub(crate) trait Follower {
    fn take_in(&mut self, change: &Change);

    /// Forgets everything, because all of it will be told again.
    fn forget(&mut self);

    /// When there is work even if nothing changes.
    fn next_time(&self) -> Option<Timestamp>;

    fn work(&mut self) -> impl Future<Output = ()> + Send;
}

/// Runs until the store is closed.
pub(crate) async fn follow(api: Api, clock: Clock, mut follower: impl Follower) {
    while let Ok(mut changes) = api.changes() {
        follower.forget();
        if follow_on(&mut changes, &clock, &mut follower).await == WatchError::Closed {
            return;
        }
    }
}

async fn follow_on(
    changes: &mut Changes,
    clock: &Clock,
    follower: &mut impl Follower,
) -> WatchError {
    loop {
        tokio::select! {
            change = changes.next() => match change {
                Ok(change) => follower.take_in(&change),
                Err(end) => return end,
            },
            () = clock.until(follower.next_time()) => {}
        }
        while let Some(change) = changes.next().now_or_never() {
            match change {
                Ok(change) => follower.take_in(&change),
                Err(end) => return end,
            }
        }
        follower.work().await;
    }
}
