//! The registries that components take artifacts from.

use std::path::Path;

use flumen_oci::{
    Reference, Repository,
    client::{ClientOptions, Registry},
};
use flumen_pipeline::{Registries, Result, StoredCredentials};

use crate::{args::registry::RegistryArgs, error::CommandError};

/// Opens them with the options of the command line, but never with the credentials that were given
/// there: those are for the destination.
#[derive(Debug)]
pub(super) struct SourceRegistries {
    options: ClientOptions,
    stored: StoredCredentials,
}

impl SourceRegistries {
    pub(super) fn new(
        registry: &RegistryArgs,
        credentials: Option<&Path>,
    ) -> std::result::Result<Self, CommandError> {
        let options = ClientOptions { credentials: None, ..registry.client_options()? };
        let stored = credentials.map(StoredCredentials::load).transpose()?.unwrap_or_default();
        Ok(Self { options, stored })
    }
}

impl Registries for SourceRegistries {
    fn open(&self, reference: &Reference, credentials: Option<&str>) -> Result<Repository> {
        let credentials = credentials.map(|name| self.stored.get(name)).transpose()?;
        let options = ClientOptions { credentials, ..self.options.clone() };
        let registry = Registry::new(&reference.host, &options)?;
        Ok(Repository::Remote(registry.repository(&reference.repository)))
    }
}
