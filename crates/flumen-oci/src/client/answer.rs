//! Answers: read within their limits, and turned into errors that say what the registry meant.

use bytes::{Bytes, BytesMut};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::Deserialize;
use tokio::time::{Duration, Instant, timeout_at};

use super::{connections, options::Timeouts};
use crate::{Error, Result};

/// What of an answer that reports an error is read.
const MAX_ERROR_BODY: usize = 16 << 10;
/// What of it is shown.
const MAX_MESSAGE_CHARS: usize = 300;
/// An answer that brings less than this within the idle limit is as good as none.
const MIN_PROGRESS: usize = 1 << 10;

/// A small answer, complete.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether the other side could know who asks.
    shown: bool,
}

impl Answer {
    /// Reads all of it: at most `limit` bytes, of an error only the beginning.
    pub(super) async fn read(
        response: Response,
        what: &str,
        limit: usize,
        timeouts: &Timeouts,
        deadline: Instant,
    ) -> Result<Self> {
        let (url, status, headers) =
            (response.url().clone(), response.status(), response.headers().clone());
        let too_large = || Error::TooLarge { what: what.to_owned(), limit: limit as u64 };
        // Over HTTP/2 an answer to HEAD announces what GET would bring; nothing of it comes.
        let announced = if limit == 0 { None } else { response.content_length() };
        let is_error = !status.is_success();
        if !is_error && announced.is_some_and(|size| size > limit as u64) {
            return Err(too_large());
        }
        let limit_now = if is_error { MAX_ERROR_BODY } else { limit };
        let mut body = Body::new(response, timeouts);
        let mut pieces = BytesMut::new();
        while let Some(piece) = body.next(deadline).await? {
            if pieces.len() + piece.len() > limit_now {
                if is_error {
                    break;
                }
                return Err(too_large());
            }
            pieces.extend_from_slice(&piece);
        }
        Ok(Self { url, status, headers, body: pieces.freeze(), shown: false })
    }

    /// Notes whether there are credentials, for the words of a refusal.
    pub(super) fn with_credentials(self, shown: bool) -> Self {
        Self { shown, ..self }
    }

    /// The answer, if its status is one of these.
    pub(super) fn expect(self, expected: &[StatusCode], what: &str) -> Result<Self> {
        if expected.contains(&self.status) { Ok(self) } else { Err(self.failure(what)) }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A web page instead of an answer: whoever is there is no registry.
    pub(super) fn is_web_page(&self) -> bool {
        self.header(CONTENT_TYPE.as_str()).is_some_and(|value| value.starts_with("text/html"))
    }

    /// The error that this answer reports.
    pub(super) fn failure(&self, what: &str) -> Error {
        let host = connections::authority(&self.url);
        let message = self.message();
        match self.status {
            StatusCode::UNAUTHORIZED => Error::Unauthorized { host, shown: self.shown, message },
            StatusCode::FORBIDDEN => Error::Forbidden { what: what.to_owned(), message },
            StatusCode::TOO_MANY_REQUESTS => Error::RateLimited { host, message },
            status if self.is_web_page() && !status.is_server_error() => {
                Error::NotARegistry { host, reason: format!("{status} and a web page") }
            }
            StatusCode::NOT_FOUND => Error::NotFound { what: what.to_owned() },
            status => Error::Refused { host, what: what.to_owned(), status, message },
        }
    }

    /// The registry's own words, safe to show.
    pub(super) fn message(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let words = match serde_json::from_slice::<Report>(&self.body) {
            Ok(report) => report.words(),
            Err(_) if self.is_web_page() => String::new(),
            Err(_) => text.into_owned(),
        };
        harmless(&words)
    }

    /// Whether the registry gives this code as a reason.
    pub(super) fn has_code(&self, code: &str) -> bool {
        serde_json::from_slice::<Report>(&self.body)
            .is_ok_and(|report| report.errors.iter().any(|entry| entry.code == code))
    }
}

/// How registries and token services report errors.
#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    errors: Vec<Entry>,
    #[serde(default)]
    error: String,
    #[serde(default)]
    error_description: String,
    #[serde(default)]
    details: String,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

impl Report {
    fn words(&self) -> String {
        let entry = self.errors.first();
        [
            entry.map_or("", |entry| &entry.message),
            entry.map_or("", |entry| &entry.code),
            &self.details,
            &self.error_description,
            &self.error,
        ]
        .into_iter()
        .find(|words| !words.is_empty())
        .unwrap_or_default()
        .to_owned()
    }
}

/// One line without anything that a terminal would obey.
fn harmless(text: &str) -> String {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let spaced: String = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The body of an answer, piece by piece, as long as it keeps coming.
#[derive(Debug)]
pub(super) struct Body {
    response: Response,
    idle: Duration,
    patience: Instant,
    progress: usize,
}

impl Body {
    pub(super) fn new(response: Response, timeouts: &Timeouts) -> Self {
        Self {
            response,
            idle: timeouts.idle,
            patience: Instant::now() + timeouts.idle,
            progress: 0,
        }
    }

    /// The next piece before `deadline`.
    pub(super) async fn next(&mut self, deadline: Instant) -> Result<Option<Bytes>> {
        let Ok(piece) = timeout_at(self.patience.min(deadline), self.response.chunk()).await else {
            let host = connections::authority(self.response.url());
            return Err(Error::TimedOut { host, doing: "in the middle of an answer" });
        };
        let piece = piece.map_err(|error| connections::failure(self.response.url(), &error))?;
        self.progress += piece.as_ref().map_or(0, Bytes::len);
        if self.progress >= MIN_PROGRESS {
            self.progress = 0;
            self.patience = Instant::now() + self.idle;
        }
        Ok(piece)
    }

    /// The next piece, whenever it comes, as long as something comes.
    pub(super) async fn next_unhurried(&mut self) -> Result<Option<Bytes>> {
        self.next(self.patience).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_harmless_line() {
        assert_eq!(harmless("no\u{1b}[2J\n\u{202e} way "), "no [2J way");
        assert_eq!(harmless(""), "");
        let long = harmless(&"word ".repeat(1000));
        assert!(long.chars().count() <= MAX_MESSAGE_CHARS + 1 && long.ends_with('…'), "{long}");
        let long = harmless(&"x".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_MESSAGE_CHARS + 1);
    }
}
