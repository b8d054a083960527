//! One request from its first try to an answer that can be used.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Body, Method, Response, StatusCode, Url,
    header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderValue},
};
use tokio::sync::OnceCell;

use super::{
    answer::Answer,
    auth::{Auth, Scope},
    connections::{self, Connections, Peer},
    options::{ClientOptions, Timeouts},
    redirect,
    retry::Retry,
    scheme,
    uploads::UploadMemory,
};
use crate::{Error, Result};

const MAX_REDIRECTS: usize = 5;
/// Uploads are watched while they move; this only bounds the rest.
const MAX_UPLOAD: Duration = Duration::from_hours(24);

/// A registry's connections, tokens and limits.
#[derive(Debug)]
pub(super) struct Transport {
    host: String,
    base: OnceCell<Url>,
    connections: Connections,
    auth: Auth,
    timeouts: Timeouts,
    pub(super) uploads: UploadMemory,
}

/// A request that can be sent again, because its body is in memory.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// What the token has to allow.
    pub(super) scope: Scope,
    /// What is asked for, as messages name it.
    pub(super) what: String,
    /// Whether the registry has a lot to do before it answers.
    pub(super) is_commit: bool,
}

impl Call {
    pub(super) fn new(method: Method, url: Url, scope: Scope, what: impl Into<String>) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            scope,
            what: what.into(),
            is_commit: false,
        }
    }

    /// Whether it does no harm when the registry gets it twice.
    fn can_be_repeated(&self) -> bool {
        !matches!(self.method, Method::DELETE | Method::PATCH)
    }

    /// Registries keep content elsewhere, but they take it in themselves.
    fn follows_redirects(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }
}

impl Transport {
    pub(super) fn new(host: &str, options: &ClientOptions) -> Result<Self> {
        let secure = scheme::secure(host)?;
        Ok(Self {
            host: host.to_owned(),
            base: OnceCell::new_with((!options.allows_plain_http()).then_some(secure)),
            connections: Connections::new(host, options)?,
            auth: Auth::new(host, options),
            timeouts: options.timeouts,
            uploads: UploadMemory::default(),
        })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) const fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The address of something below `/v2/`.
    pub(super) async fn url(&self, rest: &str) -> Result<Url> {
        let base =
            self.base.get_or_try_init(|| scheme::probe(&self.host, &self.connections)).await?;
        base.join(rest).map_err(|_| Error::InvalidReference { text: rest.to_owned() })
    }

    /// A complete answer of at most `limit` bytes, whatever its status.
    pub(super) async fn fetch(&self, call: &Call, limit: usize) -> Result<Answer> {
        let extra = if call.is_commit { self.timeouts.commit } else { Duration::ZERO };
        let mut retry = Retry::new(self.timeouts.total + extra);
        loop {
            let deadline = retry.deadline();
            let answer = match self.attempt(call).await {
                Ok(response) => {
                    Answer::read(response, &call.what, limit, &self.timeouts, deadline).await
                }
                Err(error) => Err(error),
            };
            let is_worth_it = match &answer {
                Ok(answer) => retry.after_answer(answer.status, &answer.headers).await,
                Err(error) => call.can_be_repeated() && retry.after_error(error).await,
            };
            if !is_worth_it {
                let shown = self.auth.has_credentials();
                return answer.map(|answer| answer.to(&call.method, shown));
            }
        }
    }

    /// An answer whose content is still to come. Every other status than success is an error.
    pub(super) async fn open(&self, call: &Call) -> Result<Response> {
        let mut retry = Retry::new(self.timeouts.total);
        loop {
            let response = match self.attempt(call).await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => response,
                Err(error) if retry.after_error(&error).await => continue,
                Err(error) => return Err(error),
            };
            if !retry.after_answer(response.status(), response.headers()).await {
                let (what, deadline) = (&call.what, retry.deadline());
                let answer = Answer::read(response, what, 0, &self.timeouts, deadline).await?;
                return Err(answer.to(&call.method, self.auth.has_credentials()).failure(what));
            }
        }
    }

    /// Sends a request once, shows what the registry asks to see, and goes where it points.
    async fn attempt(&self, call: &Call) -> Result<Response> {
        let mut url = call.url.clone();
        let mut authorization = self.auth.header(&call.scope, &self.connections).await?;
        let mut has_answered = false;
        let mut redirects = 0;
        let limit = match (call.is_commit, call.body.is_empty()) {
            (true, _) => self.timeouts.commit,
            (false, true) => self.timeouts.idle,
            (false, false) => self.timeouts.total,
        };
        loop {
            let peer = self.peer(&url);
            let mut headers = call.headers.clone();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            if let (Peer::Registry, Some(value)) = (peer, &authorization) {
                headers.insert(AUTHORIZATION, value.clone());
            }
            let body = Body::from(call.body.clone());
            let response = self
                .connections
                .send(peer, call.method.clone(), &url, headers, body, limit)
                .await?;

            let status = response.status();
            if status == StatusCode::UNAUTHORIZED && peer == Peer::Registry && !has_answered {
                has_answered = true;
                let answer = self.auth.answer(
                    response.headers(),
                    &call.scope,
                    authorization.as_ref(),
                    &self.connections,
                );
                if let Some(value) = answer.await? {
                    authorization = Some(value);
                    continue;
                }
            }
            let is_redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
            if !is_redirect {
                return Ok(response);
            }
            let refused =
                |reason: String| Error::Protocol { host: connections::authority(&url), reason };
            if !call.follows_redirects() {
                return Err(refused(format!("a redirect of {}", call.method)));
            }
            redirects += 1;
            if redirects > MAX_REDIRECTS {
                return Err(refused(format!("too many redirects, more than {MAX_REDIRECTS}")));
            }
            url = redirect::target(&url, response.headers()).map_err(refused)?;
        }
    }

    /// Sends content that exists only once. Nothing is tried again.
    pub(super) async fn send_stream(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Body,
        scope: &Scope,
    ) -> Result<Response> {
        let peer = self.peer(url);
        if peer == Peer::Registry
            && let Some(value) = self.auth.header(scope, &self.connections).await?
        {
            headers.insert(AUTHORIZATION, value);
        }
        self.connections.send(peer, method, url, headers, body, MAX_UPLOAD).await
    }

    /// Secrets go to the very scheme, host and port of the registry.
    fn peer(&self, url: &Url) -> Peer {
        let is_home = self.base.get().is_some_and(|base| redirect::is_same_origin(base, url));
        if is_home { Peer::Registry } else { Peer::Other }
    }
}
