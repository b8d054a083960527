//! Requests: sent, answered, and sent again where that helps.

use std::{sync::atomic::Ordering, time::Duration};

use arcstr::ArcStr;
use bytes::Bytes;
use http::{
    HeaderMap, Method, Response,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use http_body_util::Full;
use tokio::{
    sync::SemaphorePermit,
    time::{Instant, timeout_at},
};

use crate::{Client, Error, Status, connect::Body, retry::Retry, transport, tree};

/// Bytes of an answer. A page of objects is far below it, and so is what a server holds in one object.
const MAX_ANSWER: usize = 256 << 20;

/// Whether a request may be sent again when nobody knows if it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It changes nothing, or the same thing as the first time.
    Always,
    /// Only after an answer or an error that says that it was not done.
    IfUndone,
}

/// A request that can be sent as often as needed.
pub(crate) struct Request {
    method: Method,
    /// Path and query.
    url: String,
    accept: &'static str,
    /// The type of the body.
    content: Option<&'static str>,
    body: Bytes,
    repeat: Repeat,
    streams: bool,
}

impl Request {
    pub(crate) fn get(url: String) -> Self {
        Self::new(Method::GET, url)
    }

    pub(crate) const fn new(method: Method, url: String) -> Self {
        Self {
            method,
            url,
            accept: "application/json",
            content: None,
            body: Bytes::new(),
            repeat: Repeat::Always,
            streams: false,
        }
    }

    pub(crate) const fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(crate) fn with_body(mut self, content: &'static str, body: String) -> Self {
        self.content = Some(content);
        self.body = body.into();
        self
    }

    pub(crate) const fn repeating(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Events come one by one, some servers compress each on its own, and such pieces cannot be joined.
    pub(crate) const fn streaming(mut self) -> Self {
        self.streams = true;
        self
    }

    /// `base` is the address of the server, which may have a path.
    fn to_http(
        &self,
        base: &str,
        identity: &HeaderMap,
    ) -> Result<http::Request<Full<Bytes>>, http::Error> {
        let url = format!("{base}{}", self.url);
        let mut request = http::Request::builder().method(&self.method).uri(url);
        if let Some(headers) = request.headers_mut() {
            headers.extend(identity.iter().map(|(name, value)| (name.clone(), value.clone())));
            headers.insert(ACCEPT, HeaderValue::from_static(self.accept));
            if let Some(content) = self.content {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
            }
            if self.streams {
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
        }
        request.body(Full::new(self.body.clone()))
    }

    /// For messages: the query may hold selectors, but no secrets, and is left out to be short.
    fn shown(&self) -> String {
        let path = self.url.split('?').next().unwrap_or_default();
        format!("{} {path}", self.method)
    }
}

/// How long one try may take.
#[derive(Clone, Copy)]
struct Patience {
    began: Instant,
    end: Instant,
}

/// An answer that has begun. It counts as a running request until this is dropped.
struct Begun<'a> {
    body: Body,
    patience: Patience,
    /// Always there: nobody closes the semaphore.
    _permit: Option<SemaphorePermit<'a>>,
}

impl Client {
    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(&self, request: &Request) -> Result<ArcStr, Error> {
        self.exchange_with(request, &mut Retry::new(self.deadline())).await
    }

    /// The same for a caller that wants to know afterwards what the tries may have done.
    pub(crate) async fn exchange_with(
        &self,
        request: &Request,
        retry: &mut Retry,
    ) -> Result<ArcStr, Error> {
        loop {
            let result = match self.begin(request).await {
                Ok(begun) => self.text(request, begun.body, begun.patience).await,
                Err(error) => Err(error),
            };
            match result {
                Err(error) if retry.after(&error, request.repeat, self.was_connected()).await => {}
                result => return result,
            }
        }
    }

    /// Sends a request and returns the answer as soon as it begins.
    pub(crate) async fn open(&self, request: &Request) -> Result<Body, Error> {
        let mut retry = Retry::new(self.deadline());
        loop {
            match self.begin(request).await {
                Err(error) if retry.after(&error, request.repeat, self.was_connected()).await => {}
                result => return result.map(|begun| begun.body),
            }
        }
    }

    /// One try, up to the beginning of an answer that is no refusal.
    async fn begin(&self, request: &Request) -> Result<Begun<'_>, Error> {
        let shared = self.shared();
        let address = || shared.address.clone();
        let permit = match self.deadline() {
            Some(deadline) => timeout_at(deadline, shared.permits.acquire()).await,
            None => Ok(shared.permits.acquire().await),
        };
        let permit = permit.map_err(|_| Error::Deadline { address: address() })?;
        let sent = request
            .to_http(&shared.address, self.identity())
            .map_err(|_| Error::InvalidName { name: request.shown() })?;
        shared.requests.fetch_add(1, Ordering::Relaxed);
        let patience = self.patience();
        let response = timeout_at(patience.end, shared.http.send(sent)).await;
        shared.first_try_is_over();
        let code = response.as_ref().ok().and_then(|answer| answer.as_ref().ok());
        shared.account.note(&request.method, code.map(|answer| answer.status().as_u16()));
        let response = match response {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(transport::classify(&shared.address, error)),
            Err(_) => return Err(self.timed_out(patience)),
        };
        shared.connected();
        if response.status().is_success() {
            Ok(Begun { body: response.into_body(), patience, _permit: permit.ok() })
        } else {
            Err(self.refusal(request, response, patience).await)
        }
    }

    fn patience(&self) -> Patience {
        /// Without a limit: far enough away to never matter.
        const NO_LIMIT: Duration = Duration::from_hours(24 * 365);
        let began = Instant::now();
        let end = began + self.shared().request_timeout.unwrap_or(NO_LIMIT);
        Patience { began, end: self.deadline().map_or(end, |deadline| end.min(deadline)) }
    }

    async fn text(
        &self,
        request: &Request,
        body: Body,
        patience: Patience,
    ) -> Result<ArcStr, Error> {
        let bytes = self.bytes(request, body, patience).await?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(ArcStr::from(text)),
            Err(_) => Err(self.unreadable(request, &"it is no UTF-8")),
        }
    }

    async fn bytes(
        &self,
        request: &Request,
        mut body: Body,
        patience: Patience,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            match timeout_at(patience.end, body.chunk()).await {
                Err(_) => return Err(self.timed_out(patience)),
                Ok(None) => return Ok(bytes),
                Ok(Some(Err(error))) => {
                    return Err(transport::classify(&self.shared().address, error));
                }
                Ok(Some(Ok(data))) => {
                    if data.len() > MAX_ANSWER - bytes.len() {
                        return Err(self.unreadable(request, &"it is too long"));
                    }
                    bytes.extend_from_slice(&data);
                }
            }
        }
    }

    /// Reads why the server refused. An answer that cannot be read is still a refusal.
    async fn refusal(
        &self,
        request: &Request,
        response: Response<Body>,
        patience: Patience,
    ) -> Error {
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let asked = asked.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let code = response.status().as_u16();
        let text = self.text(request, response.into_body(), patience).await.unwrap_or_default();
        let mut status = match tree::read(&text) {
            Ok(node) if node.is_map() => Status::of(&node, code),
            _ => Status::foreign(code, &text),
        };
        status.retry_after = asked.or(status.retry_after);
        Error::Refused(Box::new(status))
    }

    fn timed_out(&self, patience: Patience) -> Error {
        let after = patience.end.saturating_duration_since(patience.began);
        Error::TimedOut { address: self.shared().address.clone(), after }
    }

    pub(crate) fn unreadable(&self, request: &Request, reason: &dyn std::fmt::Display) -> Error {
        Error::Unreadable {
            address: self.shared().address.clone(),
            request: request.shown(),
            reason: reason.to_string(),
        }
    }
}
