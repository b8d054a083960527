//! When to try again, and how long to wait before.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use tokio::time::Instant;

use crate::Error;

/// Tries of one request, the first included.
const MAX_TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A registry that asks for a longer pause is not worth waiting for.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The tries of one request.
#[derive(Debug)]
pub(super) struct Retry {
    tries: u32,
    deadline: Instant,
}

impl Retry {
    pub(super) fn new(total: Duration) -> Self {
        Self { tries: 1, deadline: Instant::now() + total }
    }

    /// When everything about this request must be over.
    pub(super) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits for the next try if this answer may be another one then. False if there is none.
    pub(super) async fn after_answer(&mut self, status: StatusCode, headers: &HeaderMap) -> bool {
        is_transient(status) && self.pause(retry_after(headers)).await
    }

    /// The same after a request that got no answer. Silence is not tried again: it has taken its time.
    pub(super) async fn after_error(&mut self, error: &Error) -> bool {
        matches!(error, Error::Interrupted { .. }) && self.pause(None).await
    }

    async fn pause(&mut self, asked: Option<Duration>) -> bool {
        if self.tries >= MAX_TRIES {
            return false;
        }
        let backoff = FIRST_PAUSE * 2_u32.pow(self.tries - 1);
        let pause = asked.unwrap_or_default().max(jittered(backoff));
        if pause > MAX_PAUSE || Instant::now() + pause >= self.deadline {
            return false;
        }
        self.tries += 1;
        tokio::time::sleep(pause).await;
        true
    }
}

/// Whether an answer with this status may be another one next time.
fn is_transient(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// The pause that the registry asks for: seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    let seconds = date.as_second() - jiff::Timestamp::now().as_second();
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// Between half of the pause and all of it, so that many clients do not come back together.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) % 512;
    pause / 2 + pause / 1024 * u32::try_from(random).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(value: &str) -> Option<Duration> {
        retry_after(&HeaderMap::from_iter([(RETRY_AFTER, value.parse().expect("a header"))]))
    }

    #[test]
    fn pauses_are_seconds_or_dates() {
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), None, "the past needs no pause");
        let far = asked("Thu, 31 Dec 2099 23:59:59 GMT").expect("a date");
        assert!(far > MAX_PAUSE);
        for nonsense in ["", "-1", "soon", "1.5"] {
            assert_eq!(asked(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn pauses_differ_within_their_bounds() {
        let pause = Duration::from_secs(1);
        let pauses: Vec<Duration> = (0..100).map(|_| jittered(pause)).collect();
        assert!(pauses.iter().all(|jittered| *jittered >= pause / 2 && *jittered <= pause));
        assert!(pauses.iter().any(|jittered| *jittered != pauses[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn tries_end() {
        let mut retry = Retry::new(Duration::from_mins(1));
        for _ in 1..MAX_TRIES {
            assert!(retry.pause(None).await);
        }
        assert!(!retry.pause(None).await);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_longer_than_agreed() {
        assert!(!Retry::new(Duration::from_mins(10)).pause(Some(Duration::from_secs(31))).await);
        assert!(!Retry::new(Duration::from_secs(5)).pause(Some(Duration::from_secs(6))).await);
        assert!(Retry::new(Duration::from_mins(1)).pause(Some(Duration::from_secs(29))).await);
    }
}
