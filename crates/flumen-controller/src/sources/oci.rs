//! OCIRepository: an artifact in a registry.

use std::{sync::Arc, time::Duration};

use flumen_api::{Artifact, ConditionStatus, OciRepository, delete_condition, set_condition};
use flumen_source::oci::{ConditionType, Error, Remote, Request, Resolved, SecretData};
use jiff::Timestamp;

use super::pass::{Class, Failure, Produced, Source, VERIFIED, owner};
use crate::{Controller, cache::Reflected, references};

impl Source for OciRepository {
    fn artifact(&self) -> Option<&Artifact> {
        self.status.artifact.as_ref()
    }

    fn set_artifact(&mut self, artifact: Option<Artifact>) {
        self.status.artifact = artifact;
    }

    fn interval(&self) -> Duration {
        self.spec.interval.0
    }

    fn is_suspended(&self) -> bool {
        self.spec.suspend
    }

    fn observed_generation_mut(&mut self) -> &mut i64 {
        &mut self.status.observed_generation
    }

    fn last_handled_mut(&mut self) -> &mut Option<String> {
        &mut self.status.last_handled_reconcile_at
    }

    fn reflected(controller: &Controller) -> &Arc<Reflected<Self>> {
        &controller.oci_repositories
    }

    async fn produce(
        &mut self,
        controller: &Controller,
        step: &mut String,
    ) -> Result<Produced, Failure> {
        let owner = owner(self)?;
        let spec = self.spec.clone();
        let secrets = Secrets::read(controller, self).await?;
        let remote = Remote::connect(Request {
            owner: &owner,
            spec: &spec,
            pull_secrets: &secrets.pull,
            certificates: secrets.certificates.as_ref(),
            proxy: secrets.proxy.as_ref(),
            keys: secrets.keys.as_ref(),
            trusted_root: secrets.trusted_root.as_ref(),
        })?;
        let found = remote.resolve().await?;
        let known = self.status.artifact.clone();
        let is_current = known.as_ref().is_some_and(|known| known.revision == found.revision);
        let settings_hold = self.status.observed_generation == self.metadata.generation
            || self.status.observed_ignore == spec.ignore
                && self.status.observed_layer_selector == spec.layer_selector;
        if !is_current || !settings_hold {
            let (revision, reference) = (&found.revision, &found.reference);
            *step = format!("building artifact: new revision '{revision}' for '{reference}'");
        }
        verify(self, &remote, &found).await?;
        if is_current && settings_hold {
            return Ok(Produced::Unchanged);
        }
        let fetched = remote.fetch(&found, controller.artifacts.storage()).await?;
        self.status.observed_ignore.clone_from(&spec.ignore);
        self.status.observed_layer_selector.clone_from(&spec.layer_selector);
        let host = &controller.options.advertised_host;
        self.status.url = Some(format!("http://{host}/{}", fetched.latest));
        let digest = fetched.stored.digest.to_string();
        let stored_at = known.filter(|known| known.digest == digest && is_current);
        let artifact = Artifact {
            url: format!("http://{host}/{}", fetched.stored.path),
            path: fetched.stored.path,
            revision: found.revision,
            last_update_time: stored_at.map_or_else(Timestamp::now, |known| known.last_update_time),
            size: i64::try_from(fetched.stored.size).ok(),
            metadata: fetched.metadata,
            digest,
        };
        Ok(Produced::New { news: news(&spec.url, &artifact), artifact })
    }
}

/// Checks the signature, if one is asked for. The keys may have changed although the revision has not, so this is done
/// in every pass.
async fn verify(
    object: &mut OciRepository,
    remote: &Remote<'_>,
    found: &Resolved,
) -> Result<(), Failure> {
    if object.spec.verify.is_none() {
        delete_condition(object, VERIFIED);
        return Ok(());
    }
    remote.verify(found).await?;
    let message = format!("verified signature of revision {}", found.revision);
    let now = Timestamp::now();
    set_condition(object, VERIFIED, ConditionStatus::True, "Succeeded", &message, now);
    Ok(())
}

/// What is posted about a new artifact.
fn news(url: &str, artifact: &Artifact) -> String {
    let mut news = format!("stored artifact with revision '{}' from '{url}'", artifact.revision);
    let fact = |key: &str| artifact.metadata.get(&format!("org.opencontainers.image.{key}"));
    if let Some(revision) = fact("revision") {
        let source = fact("source").map(String::as_str).unwrap_or_default();
        news.push_str(&format!(", origin source '{source}', origin revision '{revision}'"));
    }
    news
}

/// The Secrets that a source refers to.
#[derive(Default)]
struct Secrets {
    pull: Vec<SecretData>,
    certificates: Option<SecretData>,
    proxy: Option<SecretData>,
    keys: Option<SecretData>,
    trusted_root: Option<SecretData>,
}

impl Secrets {
    async fn read(controller: &Controller, object: &OciRepository) -> Result<Self, Failure> {
        let (spec, namespace) = (&object.spec, &object.metadata.namespace);
        let url = &spec.url;
        let mut secrets = Self::default();
        let read = |name: String| async move {
            references::secret(&controller.client, namespace, &name).await
        };
        if let Some(reference) = &spec.secret_ref {
            let name = &reference.name;
            match read(name.clone()).await {
                Ok(secret) => secrets.pull.push(secret),
                Err(error) => {
                    let place = format!("{namespace}/{name}");
                    let reason = format!("failed to get secret '{place}': {error}");
                    return Err(Error::Credential { reason }.into());
                }
            }
        }
        if let Some(reference) = &spec.cert_secret_ref {
            let found = read(reference.name.clone()).await.map_err(|_| Error::Transport {
                url: url.clone(),
                reason: format!("secret '{namespace}/{}' not found", reference.name),
            })?;
            secrets.certificates = Some(found);
        }
        if let Some(reference) = &spec.proxy_secret_ref {
            let found = read(reference.name.clone())
                .await
                .map_err(|error| Error::Proxy { reason: error.to_string() })?;
            secrets.proxy = Some(found);
        }
        if let Some(verify) = &spec.verify {
            let unverified = |error: references::ReferenceError| Error::Verification {
                provider: "cosign",
                reason: error.to_string(),
            };
            if let Some(reference) = &verify.secret_ref {
                secrets.keys = Some(read(reference.name.clone()).await.map_err(unverified)?);
            }
            if let Some(reference) = &verify.trusted_root_secret_ref {
                let found = read(reference.name.clone()).await.map_err(unverified)?;
                secrets.trusted_root = Some(found);
            }
        }
        Ok(secrets)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let condition = match error.condition() {
            Some(ConditionType::SourceVerified) => VERIFIED,
            Some(ConditionType::StorageOperationFailed) => "StorageOperationFailed",
            Some(ConditionType::FetchFailed) | None => "FetchFailed",
        };
        Self {
            condition,
            reason: error.reason(),
            message: error.to_string(),
            class: if error.is_stalling() { Class::Stalled } else { Class::Retried },
        }
    }
}
