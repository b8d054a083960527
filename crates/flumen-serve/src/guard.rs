//! Which requests a server answers, by the host and the origin that they name.
//!
//! A web page in the user's browser can send requests to loopback addresses. With DNS rebinding it sends them under a
//! name of its own and can read the answers. The browser says so in headers that no page can change.

use std::net::{IpAddr, SocketAddr};

use axum::{
    http::{
        HeaderMap, StatusCode,
        header::{HOST, ORIGIN},
        uri::{Authority, Uri},
    },
    response::{IntoResponse, Response},
};

/// Checks the `Host` and `Origin` headers of requests.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Names in `Host` besides addresses and `localhost`; `None` allows any.
    names: Option<Vec<String>>,
}

impl Guard {
    /// Allows IP addresses, `localhost` and these names, whatever their ports. An IP address cannot be rebound, and
    /// names below `localhost` belong to this machine.
    pub fn new(names: &[impl AsRef<str>]) -> Self {
        Self { names: Some(names.iter().map(|name| without_port(name.as_ref())).collect()) }
    }

    /// Allows these names alone if the server listens on loopback. One that other machines reach cannot know all of its
    /// names, and browsers reach one with a certificate only under the names in it.
    pub(crate) fn for_server(address: SocketAddr, is_encrypted: bool, names: &[String]) -> Self {
        if is_encrypted || !address.ip().to_canonical().is_loopback() {
            return Self { names: None };
        }
        Self::new(names)
    }

    /// Rejects a request that names another host or comes from a page of another origin.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        let header = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = header.or(uri.authority().map(Authority::as_str));
        if let Some(names) = &self.names {
            let host = host.ok_or(Rejection::MissingHost)?;
            let authority: Authority = host.parse().map_err(|_| Rejection::MalformedHost)?;
            if !is_allowed(authority.host(), names) {
                return Err(Rejection::ForeignHost);
            }
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        match (origin, host) {
            (Some((_, origin)), Some(host)) if origin.eq_ignore_ascii_case(host) => Ok(()),
            _ => Err(Rejection::ForeignOrigin),
        }
    }
}

fn without_port(name: &str) -> String {
    name.parse::<Authority>().map_or_else(|_| name.to_owned(), |name| name.host().to_owned())
}

fn is_allowed(host: &str, names: &[String]) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    bare.parse::<IpAddr>().is_ok()
        || host == "localhost"
        || host.ends_with(".localhost")
        || names.iter().any(|name| name.eq_ignore_ascii_case(&host))
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("missing required Host header")]
    MissingHost,
    #[error("malformed Host header")]
    MalformedHost,
    #[error("the Host header names another server")]
    ForeignHost,
    #[error("requests of other origins are refused")]
    ForeignOrigin,
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let status = match self {
            Self::MissingHost | Self::MalformedHost => StatusCode::BAD_REQUEST,
            Self::ForeignHost | Self::ForeignOrigin => StatusCode::FORBIDDEN,
        };
        (status, format!("{self}\n")).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &str = "127.0.0.1:80";

    fn guard(address: &str, is_encrypted: bool) -> Guard {
        let address = address.parse().expect("an address");
        Guard::for_server(address, is_encrypted, &["mine.example.com:8080".to_owned()])
    }

    fn request(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a value"));
        headers.extend(origin.map(|origin| (ORIGIN, origin.parse().expect("a value"))));
        headers
    }

    fn check(guard: &Guard, host: &str, origin: Option<&str>, expected: Result<(), Rejection>) {
        let said = guard.check(&Uri::from_static("/api"), &request(host, origin));
        assert_eq!(said, expected, "{host} {origin:?}");
    }

    #[test]
    fn a_server_on_loopback_knows_its_own_names_alone() {
        for address in [LOOPBACK, "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            let guard = guard(address, false);
            for own in [
                "127.0.0.1:8080",
                "[::1]:8080",
                "192.0.2.7",
                "localhost:1",
                "LocalHost",
                "localhost.",
                "registry.localhost:5000",
                "mine.example.com",
                "Mine.Example.com:1",
            ] {
                check(&guard, own, None, Ok(()));
            }
            for foreign in [
                "evil.example.com",
                "localhost.evil.example.com",
                "evillocalhost",
                "127.0.0.1.example.com",
                "localhost@evil.example.com",
            ] {
                check(&guard, foreign, None, Err(Rejection::ForeignHost));
            }
            check(&guard, "a b", None, Err(Rejection::MalformedHost));
        }
    }

    #[test]
    fn servers_that_cannot_be_rebound_accept_any_name() {
        for guard in
            [guard("0.0.0.0:80", false), guard("192.0.2.7:80", false), guard(LOOPBACK, true)]
        {
            check(&guard, "registry.example.com", None, Ok(()));
            check(&guard, "a b", None, Ok(()));
            assert_eq!(guard.check(&Uri::from_static("/"), &HeaderMap::new()), Ok(()));
        }
    }

    #[test]
    fn the_host_may_be_in_the_address() {
        let guard = guard(LOOPBACK, false);
        let check = |uri: &'static str| guard.check(&Uri::from_static(uri), &HeaderMap::new());
        assert_eq!(check("http://localhost:1/"), Ok(()));
        assert_eq!(check("http://evil.example.com/"), Err(Rejection::ForeignHost));
        assert_eq!(check("/"), Err(Rejection::MissingHost));
    }

    #[test]
    fn only_pages_of_the_server_itself_are_answered() {
        for address in [LOOPBACK, "0.0.0.0:80"] {
            let guard = guard(address, false);
            check(&guard, "localhost:1", Some("http://localhost:1"), Ok(()));
            for (host, origin) in [
                ("localhost:1", "http://localhost:2"),
                ("localhost:1", "null"),
                ("127.0.0.1:1", "https://evil.example.com"),
            ] {
                check(&guard, host, Some(origin), Err(Rejection::ForeignOrigin));
            }
        }
    }
}
