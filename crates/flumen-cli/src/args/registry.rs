//! Options of every command that talks to a registry.

use std::{net::Ipv4Addr, path::PathBuf};

use clap::{Args, ValueEnum};
use flumen_oci::{
    Reference, Repository,
    client::{ClientCertificate, ClientOptions, Credentials, Pem, Registry, Timeouts},
};

use crate::{
    args::env,
    error::{CommandError, Failure},
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Registry")]
pub(crate) struct RegistryArgs {
    /// Credentials as `user:password`, or a token alone; the default is Docker's configuration
    #[arg(long, value_name = "USER[:PASSWORD]")]
    creds: Option<Credentials>,

    /// Where credentials come from
    #[arg(long, value_enum, default_value = "generic")]
    provider: Provider,

    /// Allow plain HTTP, and certificates that nobody vouches for
    ///
    /// A port that is given is tried with HTTP first and with HTTPS if that is what it speaks. Without
    /// a port, HTTPS comes first.
    #[arg(long)]
    insecure_registry: bool,

    /// Certificates of authorities that the registry's certificate may come from, beside the system's
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// Certificate that this client shows
    #[arg(long, value_name = "FILE", requires = "key_file")]
    cert_file: Option<PathBuf>,

    /// Private key of that certificate
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Provider {
    Generic,
    Aws,
    Azure,
    Gcp,
}

impl RegistryArgs {
    /// Opens the repository of a reference.
    pub(crate) fn open(&self, reference: &Reference) -> Result<Repository, CommandError> {
        let mut options = self.client_options()?;
        // As in Docker and crane, registries on this machine need no certificate.
        options.insecure |= is_loopback(&reference.host);
        let registry = Registry::new(&reference.host, &options)?;
        Ok(Repository::Remote(registry.repository(&reference.repository)))
    }

    /// Returns the options of clients, for commands that use several registries.
    pub(crate) fn client_options(&self) -> Result<ClientOptions, CommandError> {
        if self.provider != Provider::Generic {
            return Err(Failure::new("this provider is not available yet")
                .hint("`--provider generic` with `--creds` or Docker's configuration works with every registry")
                .into());
        }
        let client_certificate = self.cert_file.clone().zip(self.key_file.clone());
        Ok(ClientOptions {
            credentials: self.creds.clone(),
            docker_config: env::docker_config(),
            insecure: self.insecure_registry,
            authorities: self.ca_file.clone().map(Pem::File),
            client_certificate: client_certificate.map(|(certificate, key)| ClientCertificate {
                certificate: Pem::File(certificate),
                key: Pem::File(key),
            }),
            timeouts: Timeouts::default(),
            ..ClientOptions::default()
        })
    }
}

/// Whether a host, with or without a port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, _)) if !host.ends_with(']') => name,
        _ => host,
    };
    name == "localhost"
        || name == "[::1]"
        || name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_several_names() {
        for host in ["localhost:5000", "127.0.0.1", "127.0.0.1:80", "[::1]:5000", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["registry.example.com", "localhost.example.com", "10.0.0.1:5000", "[::2]:80"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
