//! What Go's HTTP client says of a server that cannot be reached. Flux's messages end in its words.

/// A request that found nobody at the other end. `reason` is kept where Go's words for it are not known.
pub fn not_reached(url: &str, reason: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "http" { 80 } else { 443 };
    let address = if has_port { host.to_owned() } else { format!("{host}:{port}") };
    let reason = if reason.to_ascii_lowercase().contains("connection refused") {
        format!("dial tcp {address}: connect: connection refused")
    } else {
        reason.to_owned()
    };
    format!("Get \"{url}\": {reason}")
}

#[cfg(test)]
mod tests {
    use super::not_reached;

    #[test]
    fn a_refused_connection_is_told_with_its_address() {
        let check = |url: &str, reason: &str, expected: &str| {
            assert_eq!(not_reached(url, reason), format!("Get \"{url}\": {expected}"));
        };
        let refused = "tcp connect error: Connection refused (os error 111)";
        check(
            "http://git.example.com/x.git/info/refs?service=git-upload-pack",
            refused,
            "dial tcp git.example.com:80: connect: connection refused",
        );
        check(
            "https://127.0.0.1:1/api",
            refused,
            "dial tcp 127.0.0.1:1: connect: connection refused",
        );
        check("https://127.0.0.1:1/api", "no route", "no route");
    }
}
