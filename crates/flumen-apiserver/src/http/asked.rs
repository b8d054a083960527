//! A request, read as far as its head goes.

use http::{
    HeaderMap, Method,
    header::{ACCEPT, ACCEPT_ENCODING, AsHeaderName, USER_AGENT},
    request::Parts,
};
use percent_encoding::percent_decode_str;

use super::{
    negotiate::{self, Encoding},
    request_info::RequestInfo,
};
use crate::{ApiError, Query};

#[derive(Debug)]
pub(crate) struct Asked {
    pub method: Method,
    pub info: RequestInfo,
    pub query: Query,
    pub headers: HeaderMap,
    /// All `Accept` headers as one.
    pub accept: String,
}

impl Asked {
    pub(crate) fn of(parts: Parts) -> Result<Self, ApiError> {
        let uri = parts.uri;
        let path = percent_decode_str(uri.path())
            .decode_utf8()
            .map_err(|_| ApiError::bad_request("the path is not UTF-8"))?;
        let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let query = Query(query.map(|(k, v)| (k.into_owned(), v.into_owned())).collect());
        let info = RequestInfo::of(&parts.method, &path, &query);
        let accept: Vec<&str> =
            parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let accept = accept.join(",");
        Ok(Self { method: parts.method, info, query, headers: parts.headers, accept })
    }

    /// A header that is text, or nothing.
    pub(crate) fn header(&self, name: impl AsHeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn user_agent(&self) -> &str {
        self.header(USER_AGENT)
    }

    pub(crate) fn accepts_gzip(&self) -> bool {
        self.header(ACCEPT_ENCODING).split(',').any(|encoding| encoding.trim() == "gzip")
    }

    pub(crate) fn error_encoding(&self) -> Encoding {
        negotiate::for_error(&self.accept)
    }

    /// Whether a person seems to look at the answer.
    pub(crate) fn is_pretty(&self) -> bool {
        const PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];
        match self.query.get("pretty") {
            Some(text) if !text.is_empty() => {
                matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
            }
            _ => PEOPLE.iter().any(|agent| self.user_agent().starts_with(agent)),
        }
    }
}
