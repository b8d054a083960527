//! Which pages and names may talk to the server.
//!
//! A page of another origin in the user's browser can send requests to loopback addresses. It cannot
//! read a token, but a server that answers anonymous requests should not answer these.

use std::net::IpAddr;

use http::{
    HeaderMap,
    header::{HOST, ORIGIN},
    uri::{Authority, Uri},
};

use crate::ApiError;

/// Names under which the server may be addressed besides any IP address. A name that an attacker lets
/// point to this machine is none of them.
#[derive(Clone, Debug)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    pub(crate) fn new(more: &[String]) -> Self {
        let own = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        let own = own.iter().map(|name| (*name).to_owned());
        Self(own.chain(more.iter().map(|name| name.to_ascii_lowercase())).collect())
    }

    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = header.or(uri.authority().map(Authority::as_str)) else {
            return Err(ApiError::bad_request("missing required Host header"));
        };
        let authority: Authority =
            host.parse().map_err(|_| ApiError::bad_request("malformed Host header"))?;
        if !self.knows(authority.host()) {
            return Err(ApiError::forbidden("", "", "", "the Host header names another server"));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        if origin.is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host)) {
            return Ok(());
        }
        Err(ApiError::forbidden("", "", "", "requests of other origins are refused"))
    }

    fn knows(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().is_ok()
            || self.0.iter().any(|name| name.eq_ignore_ascii_case(host.trim_end_matches('.')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("it works"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("it works"));
        }
        let names = HostNames::new(&["mine.example.com".to_owned()]);
        let said = names.check(&Uri::from_static("/api"), &headers).is_ok();
        assert_eq!(said, expected, "{host} {origin:?}");
    }

    #[test]
    fn knows_its_own_names_alone() {
        check("127.0.0.1:8080", None, true);
        check("[::1]:8080", None, true);
        check("localhost:1", None, true);
        check("mine.example.com", None, true);
        check("evil.example.com", None, false);
        check("localhost.evil.example.com", None, false);
    }

    #[test]
    fn answers_pages_of_its_own_alone() {
        check("localhost:1", Some("http://localhost:1"), true);
        check("localhost:1", Some("http://localhost:2"), false);
        check("localhost:1", Some("null"), false);
        check("127.0.0.1:1", Some("https://evil.example.com"), false);
    }
}
