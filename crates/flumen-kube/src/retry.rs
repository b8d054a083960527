//! When to try again, and how long to wait before.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use tokio::time::Instant;

use crate::{Error, send::Repeat};

/// Tries of one request, the first included. Together the pauses last about as long as the restart of
/// an API server.
const MAX_TRIES: u32 = 10;
/// A webhook that is not there will rarely be there in a second.
const MAX_WEBHOOK_TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// A server that asks for a longer pause is not worth waiting for.
const MAX_ASKED_PAUSE: Duration = Duration::from_mins(1);

/// The tries of one request.
#[derive(Debug)]
pub(crate) struct Retry {
    tries: u32,
    maybe_done: bool,
    deadline: Option<Instant>,
}

impl Retry {
    pub(crate) const fn new(deadline: Option<Instant>) -> Self {
        Self { tries: 1, maybe_done: false, deadline }
    }

    /// Whether an earlier try may have done what was asked, although nobody said so.
    pub(crate) const fn maybe_done(&self) -> bool {
        self.maybe_done
    }

    /// Waits for the next try, if there is to be one after this error.
    pub(crate) async fn after(
        &mut self,
        error: &Error,
        repeat: Repeat,
        was_connected: bool,
    ) -> bool {
        let max_tries = if error.is_webhook_failure() { MAX_WEBHOOK_TRIES } else { MAX_TRIES };
        if self.tries >= max_tries || !may_pass(error, repeat, was_connected) {
            return false;
        }
        let asked = error.status().and_then(|status| status.retry_after).unwrap_or_default();
        let backoff =
            FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.tries - 1)).min(MAX_PAUSE);
        let pause = asked.max(jittered(backoff));
        if asked > MAX_ASKED_PAUSE
            || self.deadline.is_some_and(|deadline| Instant::now() + pause >= deadline)
        {
            return false;
        }
        self.tries += 1;
        self.maybe_done |= !may_pass(error, Repeat::IfUndone, was_connected);
        tokio::time::sleep(pause).await;
        true
    }
}

/// Whether time may cure this error.
pub(crate) fn may_pass_later(error: &Error) -> bool {
    may_pass(error, Repeat::Always, true)
}

/// Whether the same request may have another outcome next time, and may be sent.
fn may_pass(error: &Error, repeat: Repeat, was_connected: bool) -> bool {
    let again = repeat == Repeat::Always;
    match error {
        Error::Refused(status) => match status.code {
            429 => true,
            // Without a reason it is the server's word for "I could not make sense of this object".
            500 if status.reason.is_empty() => again && is_about_storage(&status.message),
            408 | 500 | 502 | 503 | 504 => again,
            _ => false,
        },
        // A server that was never there has a wrong address; one that was there may be restarting.
        Error::Unreachable { .. } => was_connected,
        Error::Interrupted { .. } | Error::TimedOut { .. } => again,
        _ => false,
    }
}

/// Whether the database behind the server was the problem: it elects a new leader now and then.
fn is_about_storage(message: &str) -> bool {
    message.starts_with("etcdserver: ") || message.starts_with("rpc error: ")
}

/// Between half of the pause and all of it, so that many clients do not come back together.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) % 512;
    pause / 2 + pause / 1024 * u32::try_from(random).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    fn refused(code: u16, retry_after: Option<u64>) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        let reason = "InternalError".to_owned();
        Error::Refused(Box::new(Status { code, reason, retry_after, ..Status::default() }))
    }

    fn broken() -> Error {
        Error::Interrupted { address: String::new(), reason: String::new() }
    }

    fn unreachable() -> Error {
        Error::Unreachable { address: String::new(), reason: String::new() }
    }

    #[test]
    fn only_what_was_certainly_not_done_is_created_again() {
        let check = |error: &Error, always: bool, if_undone: bool| {
            assert_eq!(may_pass(error, Repeat::Always, true), always, "{error:?}");
            assert_eq!(may_pass(error, Repeat::IfUndone, true), if_undone, "{error:?}");
        };
        check(&refused(429, None), true, true);
        check(&unreachable(), true, true);
        for code in [500, 502, 503, 504] {
            check(&refused(code, None), true, false);
        }
        check(&broken(), true, false);
        for code in [400, 401, 403, 404, 409, 410, 413, 422, 501] {
            check(&refused(code, None), false, false);
        }
    }

    #[test]
    fn objects_that_make_no_sense_are_not_sent_again() {
        let passes = |message: &str| {
            let message = message.to_owned();
            let status = Status { code: 500, message, ..Status::default() };
            may_pass(&Error::Refused(Box::new(status)), Repeat::Always, true)
        };
        assert!(!passes(
            "failed to create typed patch object: .spec: field not declared in schema"
        ));
        assert!(passes("etcdserver: leader changed"));
    }

    #[test]
    fn a_server_that_was_never_there_is_not_waited_for() {
        assert!(!may_pass(&unreachable(), Repeat::Always, false));
    }

    #[tokio::test(start_paused = true)]
    async fn tries_end() {
        let mut retry = Retry::new(None);
        let began = Instant::now();
        while retry.after(&broken(), Repeat::Always, true).await {}
        assert_eq!(retry.tries, MAX_TRIES);
        assert!(
            began.elapsed() > Duration::from_secs(10) && began.elapsed() < Duration::from_secs(25)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_says_how_long_to_wait() {
        let began = Instant::now();
        assert!(Retry::new(None).after(&refused(429, Some(7)), Repeat::IfUndone, true).await);
        assert!(began.elapsed() >= Duration::from_secs(7));
        assert!(!Retry::new(None).after(&refused(429, Some(61)), Repeat::IfUndone, true).await);
    }

    #[tokio::test(start_paused = true)]
    async fn no_pause_outlasts_the_deadline() {
        let in_five = Some(Instant::now() + Duration::from_secs(5));
        assert!(!Retry::new(in_five).after(&refused(429, Some(6)), Repeat::Always, true).await);
        assert!(Retry::new(in_five).after(&refused(429, Some(4)), Repeat::Always, true).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_webhook_is_not_waited_for_long() {
        let message = "Internal error occurred: failed calling webhook \"x\"".to_owned();
        let reason = "InternalError".to_owned();
        let status = Status { code: 500, reason, message, ..Status::default() };
        let error = Error::Refused(Box::new(status));
        let mut retry = Retry::new(None);
        while retry.after(&error, Repeat::Always, true).await {}
        assert_eq!(retry.tries, MAX_WEBHOOK_TRIES);
    }
}
