//! `OCIRepository`: an artifact in a registry.

use std::time::Duration;

use flumen_api::{
    Artifact, ConditionStatus, OciProvider, OciRepository, condition, delete_condition,
    modern_revision, set_condition,
};
use flumen_runtime::{Failure, ReferenceError, Severity, pull_secrets, secret};
use flumen_source::oci::{
    Ask, ConditionType, Error, Remote, Request, Resolved, SecretData, Trusted,
};

use super::{
    Sources,
    reconciler::{
        BUILDING, FETCH_FAILED, OUTDATED, Produced, STORAGE_FAILED, SUCCEEDED, Source, Step,
        VERIFIED, failed, owner, stalled,
    },
};

const ORIGIN_SOURCE: &str = "org.opencontainers.image.source";
/// The name under which the current artifact is served, whatever it is.
const LATEST: &str = "latest.tar.gz";

impl Source for OciRepository {
    fn artifact(&self) -> Option<&Artifact> {
        self.status.artifact.as_ref()
    }

    fn set_artifact(&mut self, artifact: Option<Artifact>) {
        let directory = artifact.as_ref().and_then(|artifact| artifact.url.rsplit_once('/'));
        self.status.url = directory.map(|(directory, _)| format!("{directory}/{LATEST}"));
        self.status.artifact = artifact;
    }

    fn interval(&self) -> Duration {
        self.spec.interval.0
    }

    fn ignore(&self) -> Option<&str> {
        self.spec.ignore.as_deref()
    }

    async fn produce(
        &mut self,
        sources: &Sources,
        step: &Step<'_, Self>,
    ) -> Result<Produced, Failure> {
        // A failed verification is judged anew; a successful one stays until the next.
        if is_false(self, VERIFIED) {
            delete_condition(self, VERIFIED);
        }
        let owner = owner(self)?;
        let spec = self.spec.clone();
        let secrets = Secrets::read(sources, self, step).await?;
        let request = Request {
            owner: &owner,
            spec: &spec,
            pull_secrets: &secrets.pull,
            certificates: secrets.certificates.as_ref(),
            proxy: secrets.proxy.as_ref(),
            registries: sources.artifacts.registries(),
        };
        let remote = Remote::connect(request).map_err(|error| failure(&error))?;
        let ask = if self.status.artifact.is_none() { Ask::Manifest } else { Ask::Digest };
        let resolved = remote.resolve(ask).await.map_err(|error| failure(&error))?;
        let revision = &resolved.revision;
        let is_new = !has_revision(self, revision);
        if is_new {
            let message = format!("new revision '{revision}' for '{}'", resolved.reference);
            step.set(format!("{BUILDING}: {message}"));
            if self.status.artifact.is_some() {
                let now = step.now();
                let status = ConditionStatus::True;
                set_condition(self, OUTDATED, status, "NewRevision", &message, now);
            }
        }
        verify(self, sources, step, &remote, &resolved).await?;
        if !is_new && has_same_content(self) {
            let stored = self.status.artifact.as_ref();
            let news = stored.map_or_else(String::new, |stored| news(&self.spec.url, stored));
            let note = format!("artifact up-to-date with remote revision: '{revision}'");
            return Ok(Produced::Unchanged { reason: "ArtifactUpToDate", note, news });
        }

        let storage = sources.artifacts.storage();
        let fetched = remote.fetch(&resolved, storage).await.map_err(|error| failure(&error))?;
        let artifact = Artifact {
            url: sources.artifact_url(&fetched.stored.path),
            path: fetched.stored.path,
            revision: resolved.revision,
            digest: fetched.stored.digest.to_string(),
            last_update_time: step.now(),
            size: i64::try_from(fetched.stored.size).ok(),
            metadata: fetched.metadata,
        };
        self.status.observed_ignore.clone_from(&self.spec.ignore);
        self.status.observed_layer_selector.clone_from(&self.spec.layer_selector);
        let news = news(&self.spec.url, &artifact);
        Ok(Produced::New { artifact, news })
    }
}

/// Whether this revision is what is stored.
fn has_revision(object: &OciRepository, revision: &str) -> bool {
    let stored = object.status.artifact.as_ref();
    stored.is_some_and(|stored| modern_revision(&stored.revision) == revision)
}

/// Whether the spec asks for the same part of the artifact as before.
fn has_same_content(object: &OciRepository) -> bool {
    object.spec.ignore == object.status.observed_ignore
        && object.spec.layer_selector == object.status.observed_layer_selector
}

/// Verifies what was not verified yet: another artifact, another spec, other keys.
async fn verify(
    object: &mut OciRepository,
    sources: &Sources,
    step: &Step<'_, OciRepository>,
    remote: &Remote<'_>,
    resolved: &Resolved,
) -> Result<(), Failure> {
    let Some(wanted) = object.spec.verify.clone() else {
        delete_condition(object, VERIFIED);
        return Ok(());
    };
    let namespace = object.metadata.namespace.clone();
    let failed = |reason: String| failure(&Error::verification(&wanted, reason));
    let read = async |name: &str| secret(&sources.runtime.client, &namespace, name).await;
    let keys = match &wanted.secret_ref {
        Some(reference) => {
            Some(read(&reference.name).await.map_err(|error| failed(error.to_string()))?)
        }
        None => None,
    };
    let root = match &wanted.trusted_root_secret_ref {
        Some(reference) => Some(read(&reference.name).await.map_err(|error| {
            let secret = format!("{namespace}/{}", reference.name);
            failed(format!("failed to read trusted root from secret '{secret}': {error}"))
        })?),
        None => None,
    };
    let trusted = Trusted { keys: keys.as_ref(), root: root.as_ref() };
    let uid = object.metadata.uid.clone();
    let fingerprint = trusted.fingerprint();
    let is_verified = condition(object, VERIFIED)
        .is_some_and(|found| found.observed_generation == object.metadata.generation);
    if is_verified
        && has_revision(object, &resolved.revision)
        && sources.artifacts.is_trusted(&uid, fingerprint)
    {
        return Ok(());
    }
    remote.verify(resolved, trusted).await.map_err(|error| failure(&error))?;
    let message = format!("verified signature of revision {}", resolved.revision);
    let now = step.now();
    set_condition(object, VERIFIED, ConditionStatus::True, SUCCEEDED, &message, now);
    sources.artifacts.trust(&uid, fingerprint);
    Ok(())
}

/// What a source refers to, except for what signatures are verified with.
struct Secrets {
    pull: Vec<SecretData>,
    proxy: Option<SecretData>,
    certificates: Option<SecretData>,
}

impl Secrets {
    async fn read(
        sources: &Sources,
        object: &OciRepository,
        step: &Step<'_, OciRepository>,
    ) -> Result<Self, Failure> {
        let (client, spec) = (&sources.runtime.client, &object.spec);
        let namespace = object.metadata.namespace.as_str();
        let mut pull = Vec::new();
        if let Some(reference) = &spec.secret_ref {
            let name = &reference.name;
            let read = secret(client, namespace, name).await;
            pull.push(read.map_err(|error| {
                let message = format!("auth secret '{name}' not found");
                step.post(Severity::Info, "AuthenticationFailed", &message);
                let reason = format!("failed to get secret '{namespace}/{name}': {error}");
                failure(&Error::Credential { reason })
            })?);
        }
        if let Some(account) = &spec.service_account_name {
            let read = pull_secrets(client, namespace, account).await;
            pull.extend(read.map_err(|error| {
                let account = format!("serviceaccount '{namespace}/{account}'");
                let reason = match error {
                    ReferenceError::NotFound("secrets", name) => format!(
                        "failed to get image pull secret for {account}: \
                         secret '{namespace}/{name}' not found"
                    ),
                    ReferenceError::NotFound(..) => format!("{account} not found"),
                    error @ ReferenceError::Cluster(_) => {
                        format!("failed to get {account}: {error}")
                    }
                };
                failure(&Error::Credential { reason })
            })?);
        }
        if pull.is_empty() && spec.provider != OciProvider::Generic {
            let reason = "identities of cloud providers are not available yet, give a Secret";
            return Err(failure(&Error::Credential { reason: reason.to_owned() }));
        }
        let missing = |name: &str, error: ReferenceError| match error {
            ReferenceError::NotFound(..) => format!("secret '{namespace}/{name}' not found"),
            error @ ReferenceError::Cluster(_) => error.to_string(),
        };
        let proxy = match &spec.proxy_secret_ref {
            Some(reference) => {
                let read = secret(client, namespace, &reference.name).await;
                Some(read.map_err(|error| {
                    failure(&Error::Proxy { reason: missing(&reference.name, error) })
                })?)
            }
            None => None,
        };
        let certificates = match &spec.cert_secret_ref {
            Some(reference) => {
                let read = secret(client, namespace, &reference.name).await;
                Some(read.map_err(|error| {
                    let reason = missing(&reference.name, error);
                    failure(&Error::Transport { url: spec.url.clone(), reason })
                })?)
            }
            None => None,
        };
        Ok(Self { pull, proxy, certificates })
    }
}

fn failure(error: &Error) -> Failure {
    let condition = match error.condition() {
        ConditionType::FetchFailed => FETCH_FAILED,
        ConditionType::StorageOperationFailed => STORAGE_FAILED,
        ConditionType::SourceVerified => VERIFIED,
    };
    let report = if error.is_stalling() { stalled } else { failed };
    report(condition, error.reason(), error.to_string())
}

fn news(url: &str, artifact: &Artifact) -> String {
    let message = format!("stored artifact with revision '{}' from '{url}'", artifact.revision);
    let source = artifact.metadata.get(ORIGIN_SOURCE).filter(|source| !source.is_empty());
    match (source, artifact.origin_revision().filter(|revision| !revision.is_empty())) {
        (Some(source), Some(revision)) => {
            format!("{message}, origin source '{source}', origin revision '{revision}'")
        }
        _ => message,
    }
}

fn is_false(object: &OciRepository, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|found| found.status == ConditionStatus::False)
}
