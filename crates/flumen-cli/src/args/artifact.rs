//! Options of every command that reads artifacts.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io::{self, Read as _},
    path::PathBuf,
};

use clap::Args;
use flumen_archive::{Budget, Ignore};
use flumen_oci::{
    Reference, Repository, Target,
    artifact::{Identities, PullOptions, Pulled, pull},
    client::{ClientOptions, Registry},
};

use crate::{
    args::{key_files::read_text, registry::RegistryArgs, size, verify::VerifyArgs},
    error::{CommandError, Failure},
};

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// File with age private keys, for artifacts that are encrypted
    #[arg(long, value_name = "FILE")]
    age_identities: Option<PathBuf>,

    /// How much an artifact may unpack to; the number of files, 10,000, grows with it
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size::parse)]
    max_size: u64,
}

impl ReadArgs {
    pub(crate) fn options(&self) -> Result<PullOptions, CommandError> {
        let identities = match &self.age_identities {
            Some(file) => Some(Identities::parse(&read_text(file)?, file)?),
            None => None,
        };
        Ok(PullOptions {
            budget: Budget::of_bytes(self.max_size),
            identities,
            ..PullOptions::default()
        })
    }

    /// Returns a reader for several artifacts.
    pub(crate) fn reader(&self, registry: &RegistryArgs) -> Result<Reader, CommandError> {
        Ok(Reader {
            options: self.options()?,
            client: registry.client_options()?,
            registries: BTreeMap::new(),
        })
    }

    /// Returns the limit of content in bytes.
    pub(crate) const fn max_size(&self) -> u64 {
        self.max_size
    }
}

/// Reads artifacts with the same keys and limits, over one set of connections to each host.
#[derive(Debug)]
pub(crate) struct Reader {
    options: PullOptions,
    client: ClientOptions,
    registries: BTreeMap<String, Registry>,
}

impl Reader {
    /// Pulls the manifests of an artifact.
    pub(crate) async fn pull(&mut self, reference: &Reference) -> Result<Pulled, CommandError> {
        let registry = match self.registries.entry(reference.host.clone()) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(place) => place.insert(Registry::new(&reference.host, &self.client)?),
        };
        let repository = Repository::Remote(registry.repository(&reference.repository));
        Ok(pull(&repository, &reference.target(), &self.options).await?)
    }
}

/// Whether the signature is checked before anything is read.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Check the signature first; implied by the options under Signatures
    #[arg(long)]
    verify: bool,

    #[command(flatten)]
    signatures: VerifyArgs,
}

impl CheckArgs {
    /// Resolves a reference, and verifies its signature if the options ask for that. Callers must use the result and
    /// not the tag, which may move.
    pub(crate) async fn checked(
        &self,
        repository: &Repository,
        reference: &Reference,
    ) -> Result<Target, CommandError> {
        if !self.verify && !self.signatures.are_given() {
            return Ok(reference.target());
        }
        let verified = self.signatures.verify(repository, &reference.target()).await?;
        Ok(Target::Digest(verified.digest))
    }
}

/// Parses the address of an artifact; `missing` is the message if there is none.
pub(crate) fn required_url(url: Option<&str>, missing: &str) -> Result<Reference, CommandError> {
    let url = url.ok_or_else(|| CommandError::brief(missing))?;
    Ok(url.parse::<Reference>()?)
}

/// Returns an address without its scheme, as Flux shows it.
pub(crate) fn shown(reference: &Reference) -> String {
    let text = reference.to_string();
    text.strip_prefix("oci://").unwrap_or(&text).to_owned()
}

/// Reads the standard input; more than `max` bytes are an error.
pub(crate) fn standard_input(max: u64) -> Result<Vec<u8>, CommandError> {
    let mut text = Vec::new();
    io::stdin()
        .take(max.saturating_add(1))
        .read_to_end(&mut text)
        .map_err(|error| Failure::new(format!("cannot read the standard input: {error}")))?;
    if text.len() as u64 > max {
        let message =
            format!("the standard input is larger than {max} bytes: `--max-size` raises the limit");
        return Err(CommandError::failure(message));
    }
    Ok(text)
}

/// Returns the files to leave out of a directory: those of the patterns, or the default ones.
pub(crate) fn ignore(patterns: &[String]) -> Ignore {
    if patterns.is_empty() {
        return Ignore::default();
    }
    Ignore::new(patterns.iter().map(String::as_str))
}
