//! Answers: read within their limits, and turned into errors that say what the registry meant.

use std::fmt;

use bytes::{Bytes, BytesMut};
use reqwest::{
    Method, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::Deserialize;
use serde_json::Value;
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
    method: Method,
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
        let body = pieces.freeze();
        Ok(Self { url, status, headers, body, method: Method::GET, shown: false })
    }

    /// Notes what was asked and whether there are credentials, for the words of a refusal.
    pub(super) fn to(self, method: &Method, shown: bool) -> Self {
        Self { method: method.clone(), shown, ..self }
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
        let (message, exchange) = (self.message(), self.exchange());
        match self.status {
            StatusCode::UNAUTHORIZED => {
                Error::Unauthorized { host, shown: self.shown, message, exchange }
            }
            StatusCode::FORBIDDEN => Error::Forbidden { what: what.to_owned(), message, exchange },
            StatusCode::TOO_MANY_REQUESTS => Error::RateLimited { host, message, exchange },
            status if self.is_web_page() && !status.is_server_error() => {
                Error::NotARegistry { host, reason: format!("{status} and a web page") }
            }
            StatusCode::NOT_FOUND => Error::NotFound { what: what.to_owned(), exchange },
            status => Error::Refused { host, what: what.to_owned(), status, message, exchange },
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

    /// Request and answer as the Go libraries write them, which is what users of Flux search for.
    fn exchange(&self) -> String {
        let mut url = self.url.clone();
        // It may hold a signature.
        url.set_query(None);
        let (method, status) = (&self.method, self.status);
        let report = serde_json::from_slice::<Report>(&self.body).ok();
        let words = match report.as_ref().map_or(&[][..], |report| &report.errors) {
            [] if self.body.is_empty() || self.is_web_page() => {
                format!("unexpected status code {status}")
            }
            [] => {
                format!("unexpected status code {status}: {}", String::from_utf8_lossy(&self.body))
            }
            [only] => only.to_string(),
            several => {
                let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!("multiple errors returned: {}", several.join("; "))
            }
        };
        harmless(&format!("{method} {url}: {words}"))
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
    #[serde(default)]
    detail: Value,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        if self.detail.is_null() { Ok(()) } else { write!(f, "; {}", in_go(&self.detail)) }
    }
}

/// A value as Go prints it.
fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(in_go).collect();
            format!("[{}]", values.join(" "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}:{}", in_go(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
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
    fn details_are_written_as_go_does() {
        let report: Report = serde_json::from_str(
            r#"{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown",
                "detail": {"Tag": "latest", "A": [1, true, null]}}]}"#,
        )
        .expect("a report");
        assert_eq!(
            report.errors[0].to_string(),
            "MANIFEST_UNKNOWN: manifest unknown; map[A:[1 true <nil>] Tag:latest]"
        );
    }

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
