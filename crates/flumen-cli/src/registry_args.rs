//! Options of every command that talks to a registry.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flumen_oci::{Reference, Repository};

use crate::error::{CommandError, Failure};

#[derive(Debug, Args)]
#[command(next_help_heading = "Registry")]
pub(crate) struct RegistryArgs {
    /// Credentials as `user:password`, or a token alone; the default is Docker's configuration
    #[arg(long, value_name = "USER[:PASSWORD]")]
    creds: Option<String>,

    /// Where credentials come from
    #[arg(long, value_enum, default_value = "generic")]
    provider: Provider,

    /// Allow plain HTTP, and certificates that nobody vouches for
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
    /// The repository that a reference names.
    pub(crate) fn open(&self, reference: &Reference) -> Result<Repository, CommandError> {
        let _ = (&self.creds, &self.ca_file, &self.cert_file, &self.key_file, reference);
        if self.provider != Provider::Generic {
            return Err(Failure::new("this provider is not available yet")
                .hint("`--provider generic` with `--creds` or Docker's configuration works with every registry")
                .into());
        }
        let _ = self.insecure_registry;
        Err(CommandError::failure("not available yet"))
    }
}
