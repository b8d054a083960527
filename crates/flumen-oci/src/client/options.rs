//! What a caller decides about a registry.

use std::{fmt, path::PathBuf, time::Duration};

use super::{Credentials, credentials::Secret};

/// How to talk to a registry.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    pub credentials: Option<Credentials>,
    /// Docker's configuration file, which is asked if no credentials are given. It may be missing.
    pub docker_config: Option<PathBuf>,
    /// Allows plain HTTP and certificates that nobody vouches for.
    ///
    /// A port that is given is tried with HTTP first; without one, or with 443, HTTPS comes first.
    pub insecure: bool,
    /// Allows plain HTTP in the same way; certificates are still verified where there are any.
    pub plain_http: bool,
    /// Authorities that are trusted beside those of the system.
    pub authorities: Option<Pem>,
    pub client_certificate: Option<ClientCertificate>,
    /// Where requests go instead of what the environment says.
    pub proxy: Option<Proxy>,
    pub timeouts: Timeouts,
}

impl ClientOptions {
    pub(super) const fn allows_plain_http(&self) -> bool {
        self.insecure || self.plain_http
    }
}

/// What this client shows to the registry.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub certificate: Pem,
    pub key: Pem,
}

/// Certificates or a key, in PEM.
#[derive(Clone)]
pub enum Pem {
    File(PathBuf),
    Text(Vec<u8>),
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            // It may be a key.
            Self::Text(_) => f.write_str("Text(…)"),
        }
    }
}

/// A proxy for all requests.
#[derive(Clone, Debug)]
pub struct Proxy {
    pub(super) address: String,
    pub(super) user: Option<(String, Secret)>,
}

impl Proxy {
    /// `http`, `https` or `socks5`, with a user and a password if it asks for them.
    pub fn new(address: &str, user: Option<(&str, &str)>) -> Self {
        let user = user.map(|(user, password)| (user.to_owned(), Secret::new(password)));
        Self { address: address.to_owned(), user }
    }
}

/// How long to wait for a registry.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// Until an answer begins, and for the next piece of one that has begun.
    pub idle: Duration,
    /// Until an upload is acknowledged after its last byte; registries move data at that point.
    pub commit: Duration,
    /// For small answers and for all tries and pauses of one request together.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            commit: Duration::from_mins(5),
            total: Duration::from_mins(1),
        }
    }
}
