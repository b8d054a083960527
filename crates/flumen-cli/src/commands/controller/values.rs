//! Values of flags as Go's flag library reads them.

use std::{
    net::{AddrParseError, Ipv4Addr, SocketAddr},
    time::Duration,
};

use flumen_api::GoDuration;
use flumen_controller::Listen;

/// Reads what Go takes for a truth value.
pub(super) fn go_bool(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false"),
    }
}

/// Reads `36h`, `1m30s` or `500ms`; nothing may be `0s`.
pub(super) fn go_duration(text: &str) -> Result<Duration, &'static str> {
    let read = text.parse::<GoDuration>();
    read.map(|duration| duration.0).map_err(|_| "expected a duration such as 36h or 1m30s")
}

/// Reads an address; without a host it is that of every interface, as Flux writes it.
pub(super) fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
    if text.starts_with(':') { format!("0.0.0.0{text}").parse() } else { text.parse() }
}

/// Reads an address to listen on; `0` is none, as in Flux.
pub(super) fn listen(text: &str) -> Result<Listen, AddrParseError> {
    if text == "0" { Ok(Listen::Nowhere) } else { address(text).map(Listen::At) }
}

/// Where is listened if nobody says where: in a Pod as Flux does, where its probes and scrapers come from outside, and
/// elsewhere only for this machine, if the port is free.
pub(super) fn default_listen(port: u16, is_in_pod: bool) -> Listen {
    if is_in_pod {
        Listen::At((Ipv4Addr::UNSPECIFIED, port).into())
    } else {
        Listen::IfFree((Ipv4Addr::LOCALHOST, port).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_flux_writes_them() {
        let check = |text: &str, expected: &str| {
            let expected = expected.parse().expect("an address");
            assert_eq!(listen(text), Ok(Listen::At(expected)), "{text}");
        };
        check(":8080", "0.0.0.0:8080");
        check("127.0.0.1:0", "127.0.0.1:0");
        check("[::1]:9440", "[::1]:9440");
        assert_eq!(listen("0"), Ok(Listen::Nowhere));
        for text in ["", "8080", "localhost", ":port"] {
            assert!(listen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_nobody_asked_for_is_local_except_in_a_pod() {
        let local = "127.0.0.1:8080".parse().expect("an address");
        assert_eq!(default_listen(8080, false), Listen::IfFree(local));
        let everywhere = "0.0.0.0:8080".parse().expect("an address");
        assert_eq!(default_listen(8080, true), Listen::At(everywhere));
    }
}
