//! Failures of requests in the words of `flux`, each on one line.

use std::net::ToSocketAddrs as _;

use flumen_kube::{ConfigError, Error};

use crate::error::error_chain;

/// What `flux` says when its time is over.
pub(crate) const LATE: &str = "context deadline exceeded";

/// A request that failed.
pub(crate) fn words(error: &Error) -> String {
    match error {
        Error::Config(error) => config_words(error),
        Error::Refused(_) if error.is_unauthorized() => {
            "the server has asked for the client to provide credentials".to_owned()
        }
        Error::Refused(status) if !status.message.is_empty() => status.message.clone(),
        Error::Unreachable { address, reason } => {
            format!("Get \"{address}/api\": {}", dial_words(address, reason))
        }
        Error::Deadline { .. } | Error::TimedOut { .. } => LATE.to_owned(),
        other => error_chain(other),
    }
}

fn config_words(error: &ConfigError) -> String {
    match error {
        ConfigError::Unknown { kind, name, .. } => format!("{kind} \"{name}\" does not exist"),
        ConfigError::Unreadable { path, source } => {
            let path = path.display();
            if source.kind() == std::io::ErrorKind::NotFound {
                return format!("stat {path}: no such file or directory");
            }
            format!("open {path}: {source}")
        }
        other => error_chain(other),
    }
}

/// Says which address refused the connection, where that is what happened.
fn dial_words(address: &str, reason: &str) -> String {
    if !reason.to_ascii_lowercase().contains("connection refused") {
        return reason.to_owned();
    }
    let (scheme, rest) = address.split_once("://").unwrap_or(("https", address));
    let host = rest.split('/').next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let host = match (has_port, scheme) {
        (true, _) => host.to_owned(),
        (false, "http") => format!("{host}:80"),
        (false, _) => format!("{host}:443"),
    };
    let resolved = host.to_socket_addrs().ok().and_then(|mut found| found.next());
    let place = resolved.map_or(host, |resolved| resolved.to_string());
    format!("dial tcp {place}: connect: connection refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_connections_name_the_address_that_was_tried() {
        let check = |address: &str, expected: &str| {
            let reason = "Connection refused (os error 111)".to_owned();
            let error = Error::Unreachable { address: address.to_owned(), reason };
            assert_eq!(words(&error), expected);
        };
        check(
            "https://127.0.0.1:9",
            "Get \"https://127.0.0.1:9/api\": dial tcp 127.0.0.1:9: connect: connection refused",
        );
        check(
            "http://127.0.0.1",
            "Get \"http://127.0.0.1/api\": dial tcp 127.0.0.1:80: connect: connection refused",
        );
    }
}
