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

    /// Waits for the next try. False if there is none.
    pub(super) async fn pause(&mut self, asked: Option<Duration>) -> bool {
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
pub(super) fn is_transient(status: StatusCode) -> bool {
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
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
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
