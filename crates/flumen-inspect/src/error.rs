//! Why a cluster cannot be inspected, in the words of `flux`, each on one line.

use std::{iter, net::ToSocketAddrs as _};

use flumen_kube::{ConfigError, Resource};

use crate::kinds::Kind;

/// The message of `flux` after a timeout.
const LATE: &str = "context deadline exceeded";

/// Messages name their causes, so that no error has a source.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", request_message(.0))]
    Request(flumen_kube::Error),

    #[error("failed to get server groups: {}", request_message(.0))]
    Discovery(flumen_kube::Error),

    #[error("no matches for kind \"{kind}\" in version \"{version}\"")]
    KindNotInstalled { kind: String, version: String },

    #[error("'{0}' is not a recognized Flux kind")]
    UnknownKind(String),

    /// `resource` is `plural.group`.
    #[error("{resource} \"{name}\" not found")]
    NotFound { resource: String, name: String },

    /// A list without objects. `place` is a quoted namespace, or `any`.
    #[error("{}", nothing_message(.kind, .name.as_deref(), .place))]
    NothingFound { kind: &'static str, name: Option<String>, place: String },

    #[error("expected status selector in type=status or type!=status format, but found: {0}")]
    StatusSelector(String),

    #[error(
        "unable to parse label selector: couldn't parse the selector string {selector:?}: {reason}"
    )]
    LabelSelector { selector: String, reason: String },

    #[error("field '{field}' for '{namespace}/{name}' not found")]
    NoField { field: String, namespace: String, name: String },

    #[error("{LATE}")]
    Timeout,

    /// The object that was followed will not become what the caller waits for.
    #[error("{0}")]
    Failed(String),

    #[error("unable to parse stored object metadata: {0}")]
    InventoryId(String),

    #[error("failed to find object: {0}")]
    Managed(Box<Self>),

    #[error("failed to decode the Helm storage object for HelmRelease '{namespace}/{name}'")]
    HelmStorage { namespace: String, name: String },

    #[error("failed to read the Helm storage object: {0}")]
    HelmManifest(flumen_yaml::Error),
}

impl Error {
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        Self::NotFound { resource: kind.resource(), name: name.to_owned() }
    }

    /// An object that was deleted while it was followed.
    pub(crate) fn gone(resource: &Resource, name: &str) -> Self {
        let resource = format!("{}.{}", resource.plural, resource.gvk.group);
        Self::NotFound { resource, name: name.to_owned() }
    }
}

impl From<flumen_kube::Error> for Error {
    fn from(error: flumen_kube::Error) -> Self {
        Self::Request(error)
    }
}

fn nothing_message(kind: &str, name: Option<&str>, place: &str) -> String {
    match name {
        Some(name) => format!("{kind} object '{name}' not found in {place} namespace"),
        None => format!("no {kind} objects found in {place} namespace"),
    }
}

fn request_message(error: &flumen_kube::Error) -> String {
    use flumen_kube::Error;

    match error {
        Error::Config(error) => config_message(error),
        Error::Refused(_) if error.is_unauthorized() => {
            "the server has asked for the client to provide credentials".to_owned()
        }
        Error::Refused(status) if !status.message.is_empty() => status.message.clone(),
        Error::Unreachable { address, reason } => {
            format!("Get \"{address}/api\": {}", dial_message(address, reason))
        }
        Error::Deadline { .. } | Error::TimedOut { .. } => LATE.to_owned(),
        other => chain(other),
    }
}

fn config_message(error: &ConfigError) -> String {
    match error {
        ConfigError::Unknown { kind, name, .. } => format!("{kind} \"{name}\" does not exist"),
        ConfigError::Unreadable { path, source } => {
            let path = path.display();
            if source.kind() == std::io::ErrorKind::NotFound {
                return format!("stat {path}: no such file or directory");
            }
            format!("open {path}: {source}")
        }
        other => chain(other),
    }
}

/// The message of an error and those of its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Names the address that refused the connection, if one did.
fn dial_message(address: &str, reason: &str) -> String {
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
            let error = flumen_kube::Error::Unreachable { address: address.to_owned(), reason };
            assert_eq!(Error::from(error).to_string(), expected);
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
