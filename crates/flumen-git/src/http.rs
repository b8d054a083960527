//! Requests with a watch over them.
//!
//! The client is asynchronous underneath, so that waiting for a server that says nothing can be
//! given up at any moment; callers see functions that block.

use std::{
    future::Future,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use reqwest::{
    Certificate, Client, Identity, Response, StatusCode,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION},
    redirect::Policy,
};
use url::Url;

use crate::{Access, Error, error::chain, limits::Budget, url::HttpUrl, waiting::Waiter};

/// How often a server may send us elsewhere.
const MAX_REDIRECTS: usize = 5;

/// Connections that repositories and files share.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    waiter: Waiter,
}

/// One repository or file: what may be received for it, and until when.
#[derive(Debug)]
pub(crate) struct Exchange {
    http: Arc<Http>,
    stop: Arc<AtomicBool>,
    target: HttpUrl,
    budget: Rc<Budget>,
}

impl Http {
    pub(crate) fn new(access: &Access) -> Result<Self, Error> {
        let mut client = Client::builder()
            // Followed here, where credentials can be kept from strangers.
            .redirect(Policy::none())
            .user_agent(concat!("flumen/", env!("CARGO_PKG_VERSION")));
        if let Some(authorities) = &access.authorities {
            let authorities = Certificate::from_pem_bundle(authorities)
                .ok()
                .filter(|found| !found.is_empty())
                .ok_or(Error::Unusable { what: "the certificates of the authorities" })?;
            client = client.tls_certs_merge(authorities);
        }
        if let Some(certificate) = &access.certificate {
            let pem = [certificate.chain.as_slice(), b"\n", &certificate.key].concat();
            let unusable = Error::Unusable { what: "the client's certificate and its key" };
            client = client.identity(Identity::from_pem(&pem).map_err(|_| unusable)?);
        }
        if let Some(proxy) = &access.proxy {
            let unusable = Error::Unusable { what: "the address of the proxy" };
            let mut through = reqwest::Proxy::all(proxy.url.clone()).map_err(|_| unusable)?;
            if !proxy.username.is_empty() {
                through = through.basic_auth(&proxy.username, &proxy.password);
            }
            client = client.no_proxy().proxy(through);
        }
        let client =
            client.build().map_err(|error| Error::Scratch(std::io::Error::other(chain(&error))))?;
        Ok(Self { client, waiter: Waiter::new()? })
    }
}

impl Exchange {
    pub(crate) fn new(
        http: &Arc<Http>,
        target: &HttpUrl,
        budget: &Rc<Budget>,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let (http, stop) = (Arc::clone(http), Arc::clone(stop));
        Self { http, stop, target: target.clone(), budget: Rc::clone(budget) }
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
    pub(crate) fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, Error> {
        let chunk = self.wait(response.chunk())?;
        let length = chunk.as_ref().map_or(0, Bytes::len);
        self.budget.spend_bytes(length, &self.target)?;
        Ok(chunk)
    }

    /// Waits for an answer, or for the end of our patience.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, reqwest::Error>>) -> Result<T, Error> {
        let unreachable = |reason| Error::Unreachable { url: self.shown(), reason };
        match self.http.waiter.wait(&self.stop, answer) {
            Some(answer) => answer.map_err(|error| unreachable(chain(&error.without_url()))),
            // Who watches knows the reason better.
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
