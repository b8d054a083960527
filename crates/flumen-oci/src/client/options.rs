//! What a caller decides about a registry.

use std::{path::PathBuf, time::Duration};

use super::Credentials;

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
    /// Authorities that are trusted beside those of the system, as PEM.
    pub ca_file: Option<PathBuf>,
    pub client_certificate: Option<ClientCertificate>,
    pub timeouts: Timeouts,
}

/// What this client shows to the registry, both as PEM.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
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
