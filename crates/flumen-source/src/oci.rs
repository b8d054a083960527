//! Artifacts of registries, as an `OCIRepository` asks for them.
//!
//! ```text
//! Request ─▶ Remote::connect ─▶ resolve ─▶ verify ─▶ fetch ─▶ Storage
//! ```
//!
//! The caller has read the Secrets and decides which steps are needed: a revision that did not change
//! is not fetched again.

mod connect;
mod credentials;
mod error;
mod layer;
mod proxy;
mod registries;
mod tags;
mod verify;

use std::{collections::BTreeMap, fmt, future::Future};

use flumen_api::OciRepositorySpec;
use flumen_oci::{Descriptor, Digest, RawManifest, Reference, Repository, Target};

pub use self::{
    error::{ConditionType, Error},
    layer::Fetched,
    registries::Registries,
    verify::Trusted,
};
use crate::Owner;

/// The `data` of a Secret, decoded.
pub type SecretData = BTreeMap<String, Vec<u8>>;

/// What is asked for, and with what.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    pub owner: &'r Owner,
    pub spec: &'r OciRepositorySpec,
    /// Secrets with credentials: that of `secretRef`, then those of the service account.
    pub pull_secrets: &'r [SecretData],
    /// The Secret of `certSecretRef`.
    pub certificates: Option<&'r SecretData>,
    /// The Secret of `proxySecretRef`.
    pub proxy: Option<&'r SecretData>,
    /// Connections that others have opened.
    pub registries: &'r Registries,
}

/// A repository that can be asked.
#[derive(Debug)]
pub struct Remote<'r> {
    request: Request<'r>,
    reference: Reference,
    repository: Repository,
}

/// What the request stands for at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// `<tag>@<digest>`, or the digest alone if it was asked for.
    pub revision: String,
    pub digest: Digest,
    /// The address with tag or digest, as messages name it.
    pub reference: String,
    /// What is known of the manifest; nothing but its digest if that was asked for.
    descriptor: Option<Descriptor>,
    /// The manifest itself, if it was read.
    manifest: Option<RawManifest>,
}

/// What is asked of a registry to find out which artifact is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The digest alone, since it is most likely known.
    Digest,
    /// The manifest, since it is going to be fetched.
    Manifest,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The rest is secret.
        f.debug_struct("Request").field("owner", self.owner).finish_non_exhaustive()
    }
}

impl<'r> Remote<'r> {
    /// Prepares to talk to the registry. Nothing is sent yet.
    pub fn connect(request: Request<'r>) -> Result<Self, Error> {
        connect::connect(request)
    }

    /// Finds out which artifact is meant.
    pub async fn resolve(&self, ask: Ask) -> Result<Resolved, Error> {
        self.within_time(Error::digest, self.resolve_now(ask)).await
    }

    async fn resolve_now(&self, ask: Ask) -> Result<Resolved, Error> {
        let wanted = self.request.spec.r#ref.clone().unwrap_or_default();
        let name = self.reference.name();
        if let Some(text) = &wanted.digest {
            let digest: Digest = text
                .parse()
                .map_err(|error: flumen_oci::Error| Error::digest(error.to_string()))?;
            let (revision, reference) = (digest.to_string(), format!("{name}@{digest}"));
            return Ok(Resolved { revision, digest, reference, descriptor: None, manifest: None });
        }
        let tag = match (&wanted.semver, wanted.tag) {
            (Some(range), _) => self.highest(range, wanted.semver_filter.as_deref()).await?,
            (None, Some(tag)) => tag,
            (None, None) => "latest".to_owned(),
        };
        let target = Target::Tag(tag.clone());
        let told = match ask {
            Ask::Digest => self.repository.resolve(&target).await.map(Some),
            Ask::Manifest => Ok(None),
        };
        let (descriptor, manifest) = match told {
            Ok(Some(descriptor)) => (descriptor, None),
            Err(error) if error.exchange().is_none() => {
                return Err(Error::digest(self.words(&error)));
            }
            // Answers to GET say why, those to HEAD cannot.
            Ok(None) | Err(_) => {
                let manifest = self.repository.manifest(&target).await;
                let manifest = manifest.map_err(|error| Error::digest(self.words(&error)))?;
                (manifest.descriptor.clone(), Some(manifest))
            }
        };
        let digest = descriptor.digest.clone();
        Ok(Resolved {
            revision: format!("{tag}@{digest}"),
            reference: format!("{name}:{tag}"),
            digest,
            descriptor: Some(descriptor),
            manifest,
        })
    }

    /// Gives up when the time that the source allows is over.
    async fn within_time<T>(
        &self,
        late: impl FnOnce(String) -> Error,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(self.request.spec.timeout(), work).await {
            Ok(done) => done,
            Err(_) => Err(late("context deadline exceeded".to_owned())),
        }
    }

    /// An error of the registry in the words that users of Flux know.
    fn words(&self, error: &flumen_oci::Error) -> String {
        error::words(error, connect::allows_plain_http(&self.reference.host, self.request.spec))
    }
}
