//! Options that say whose signatures count.

use std::path::PathBuf;

use clap::Args;
use flumen_oci::{
    Reference, Repository, Target,
    signature::{self, Policy, Verified},
};
use flumen_sign::{Identity, Pattern, Trust};

use crate::{
    args::key_files,
    error::{CommandError, Failure},
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Signatures")]
pub(crate) struct VerifyArgs {
    /// Public key that may have signed; can be given more than once
    #[arg(long = "key", visible_alias = "cosign-key", value_name = "FILE")]
    keys: Vec<PathBuf>,

    /// Authorities and logs of a sigstore deployment, for signatures that are made with certificates
    ///
    /// With `--key`, signatures in bundles must be in its logs too.
    #[arg(long, value_name = "FILE")]
    trusted_root: Option<PathBuf>,

    /// Who may have signed with a certificate
    #[arg(long, value_name = "NAME", requires = "trusted_root", requires = "issuer")]
    #[arg(group = "subject")]
    certificate_identity: Option<String>,

    /// The same as a regular expression
    #[arg(long, value_name = "REGEXP", requires = "trusted_root", requires = "issuer")]
    #[arg(group = "subject")]
    certificate_identity_regexp: Option<String>,

    /// Who that name must be vouched for by
    #[arg(long, value_name = "URL", group = "issuer", requires = "subject")]
    certificate_oidc_issuer: Option<String>,

    /// The same as a regular expression
    #[arg(long, value_name = "REGEXP", group = "issuer", requires = "subject")]
    certificate_oidc_issuer_regexp: Option<String>,

    /// Repository that the artifact was signed in, if it is not this one or a mirror with the same path
    #[arg(long, value_name = "HOST/PATH")]
    signed_as: Option<String>,
}

impl VerifyArgs {
    /// Whether an option about signatures is given.
    pub(crate) fn are_given(&self) -> bool {
        !self.keys.is_empty() || self.trusted_root.is_some() || self.signed_as.is_some()
    }

    /// Verifies `target` and returns the verified digest.
    pub(crate) async fn verify(
        &self,
        repository: &Repository,
        target: &Target,
    ) -> Result<Verified, CommandError> {
        let policy = self.policy()?;
        let descriptor = repository.resolve(target).await?;
        Ok(signature::verify(repository, &descriptor, &policy).await?)
    }

    fn policy(&self) -> Result<Policy, CommandError> {
        let identity = self.identity()?;
        if self.keys.is_empty() && identity.is_none() {
            return Err(Failure::new("nothing says whose signatures count")
                .hint("give `--key`, or `--trusted-root` with `--certificate-identity` and `--certificate-oidc-issuer`")
                .into());
        }
        let keys =
            self.keys.iter().map(|path| key_files::public_key(path)).collect::<Result<_, _>>()?;
        let root = self.trusted_root.as_deref().map(key_files::trusted_root).transpose()?;
        let signed_as = self.signed_as.as_deref().map(repository_name).transpose()?;
        Ok(Policy { trust: Trust { keys, root, identity }, signed_as })
    }

    fn identity(&self) -> Result<Option<Identity>, CommandError> {
        let subject = pattern(
            self.certificate_identity.as_deref(),
            self.certificate_identity_regexp.as_deref(),
        )?;
        let issuer = pattern(
            self.certificate_oidc_issuer.as_deref(),
            self.certificate_oidc_issuer_regexp.as_deref(),
        )?;
        Ok(subject.zip(issuer).map(|(subject, issuer)| Identity { subject, issuer }))
    }
}

/// Parses the name of a repository in signatures: `host/path`, with or without a scheme.
pub(crate) fn repository_name(text: &str) -> Result<String, CommandError> {
    let name = text.strip_prefix("oci://").unwrap_or(text);
    let reference = Reference::from_name(name)?;
    Ok(reference.name())
}

fn pattern(exact: Option<&str>, regexp: Option<&str>) -> Result<Option<Pattern>, CommandError> {
    match (exact, regexp) {
        (Some(text), _) => Ok(Some(Pattern::Exact(text.to_owned()))),
        (None, Some(regexp)) => Pattern::matching(regexp)
            .map(Some)
            .map_err(|error| CommandError::failure(error.to_string())),
        (None, None) => Ok(None),
    }
}
