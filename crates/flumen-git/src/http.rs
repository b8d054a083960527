//! Requests with a watch over them.
//!
//! The client is asynchronous underneath, so that waiting for a server that says nothing can be
//! given up at any moment; callers see functions that block.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use reqwest::{
    Client, Response, StatusCode,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION},
    redirect::Policy,
};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::{Error, error::chain, limits::LOOK, url::HttpUrl};

/// How often a server may send us elsewhere.
const MAX_REDIRECTS: usize = 5;

/// Connections that repositories and files share.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    /// There until the end.
    runtime: Option<Runtime>,
}

/// One repository or file: what may be received for it, and until when.
#[derive(Debug)]
pub(crate) struct Exchange {
    http: Arc<Http>,
    stop: Arc<AtomicBool>,
    target: HttpUrl,
    limit: u64,
    received: u64,
}

impl Http {
    pub(crate) fn new() -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Scratch)?;
        let client = Client::builder()
            // Followed here, where credentials can be kept from strangers.
            .redirect(Policy::none())
            .user_agent(concat!("flumen/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::Scratch(std::io::Error::other(chain(&error))))?;
        Ok(Self { client, runtime: Some(runtime) })
    }
}

impl Drop for Http {
    /// Looking up a name cannot be interrupted; nobody waits for it here.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Exchange {
    pub(crate) fn new(
        http: &Arc<Http>,
        target: &HttpUrl,
        limit: u64,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let (http, stop) = (Arc::clone(http), Arc::clone(stop));
        Self { http, stop, target: target.clone(), limit, received: 0 }
    }

    /// The address, for messages.
    pub(crate) fn shown(&self) -> String {
        self.target.to_string()
    }

    /// Asks for `url` and follows where it leads; the address that answered is in the response.
    pub(crate) fn get(&self, url: &Url, headers: &HeaderMap) -> Result<Response, Error> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = self
                .http
                .client
                .get(url.clone())
                .headers(headers.clone())
                .headers(self.credentials_for(&url));
            let response = self.wait(request.send())?;
            let Some(next) = self.redirection(&response)? else { return self.accept(response) };
            url = next;
        }
        Err(self.redirected("too often"))
    }

    pub(crate) fn post(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, Error> {
        let request = self
            .http
            .client
            .post(url.clone())
            .headers(headers.clone())
            .headers(self.credentials_for(url))
            .body(body);
        let response = self.wait(request.send())?;
        self.accept(response)
    }

    /// The next part of a response; none at its end.
    pub(crate) fn chunk(&mut self, response: &mut Response) -> Result<Option<Bytes>, Error> {
        let chunk = self.wait(response.chunk())?;
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.limit {
            return Err(Error::TooLarge { url: self.shown(), limit: self.limit });
        }
        Ok(chunk)
    }

    /// Waits for an answer, or for the end of our patience.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, reqwest::Error>>) -> Result<T, Error> {
        let stopped = async {
            while !self.stop.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let unreachable = |reason| Error::Unreachable { url: self.shown(), reason };
        let outcome = async {
            tokio::select! {
                answer = answer => answer.map_err(|error| unreachable(chain(&error.without_url()))),
                // Who watches knows the reason better.
                () = stopped => Err(unreachable("stopped".to_owned())),
            }
        };
        match &self.http.runtime {
            Some(runtime) => runtime.block_on(outcome),
            None => Err(unreachable("stopped".to_owned())),
        }
    }

    /// Credentials are for the server they were given for, and for no other.
    fn credentials_for(&self, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(authorization) = &self.target.authorization
            && url.origin() == self.target.url.origin()
            && let Ok(mut value) = HeaderValue::from_str(authorization)
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        headers
    }

    fn redirection(&self, response: &Response) -> Result<Option<Url>, Error> {
        if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let next = response
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok())
            .and_then(|location| response.url().join(location).ok())
            .ok_or_else(|| self.redirected("to nowhere"))?;
        match (response.url().scheme(), next.scheme()) {
            ("https", "https") | ("http", "http" | "https") => Ok(Some(next)),
            ("https", "http") => Err(self.redirected("from https to http")),
            _ => Err(self.redirected("to something that is not http")),
        }
    }

    fn redirected(&self, reason: &'static str) -> Error {
        Error::Redirected { url: self.shown(), reason }
    }

    fn accept(&self, response: Response) -> Result<Response, Error> {
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED => Err(Error::Unauthorized {
                url: self.shown(),
                were_given: self.target.authorization.is_some(),
            }),
            status => Err(Error::Status { url: self.shown(), status: status.as_u16() }),
        }
    }
}
