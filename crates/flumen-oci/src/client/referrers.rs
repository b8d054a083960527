//! What refers to a manifest: signatures, attestations and the like.
//!
//! Registries of OCI 1.1 keep the list themselves. For older ones the specification has clients keep it, as an
//! index under a tag that is made from the digest.

use reqwest::StatusCode;

use super::RemoteRepository;
use crate::{
    Descriptor, Digest, Document, Error, Index, RawManifest, Result, Target, media_type, referrer,
};

const MAX_REFERRERS: usize = 100_000;

impl RemoteRepository {
    pub(crate) async fn referrers(
        &self,
        digest: &Digest,
        artifact_type: Option<&str>,
    ) -> Result<Vec<Descriptor>> {
        let mut referrers = match self.kept_by_registry(digest, artifact_type).await? {
            Some(referrers) => referrers,
            None => self.kept_by_clients(digest).await?,
        };
        if let Some(wanted) = artifact_type {
            referrers.retain(|referrer| referrer.artifact_type.as_deref() == Some(wanted));
        }
        Ok(referrers)
    }

    /// The list of the registry, or nothing if it keeps none.
    pub(crate) async fn kept_by_registry(
        &self,
        digest: &Digest,
        artifact_type: Option<&str>,
    ) -> Result<Option<Vec<Descriptor>>> {
        let what = format!("the referrers of {}/{}@{digest}", self.registry.host(), self.path);
        let mut url = self.url(&format!("referrers/{digest}")).await?;
        if let Some(artifact_type) = artifact_type {
            url.query_pairs_mut().append_pair("artifactType", artifact_type);
        }
        let mut referrers = Some(Vec::new());
        self.each_page(url, &what, |answer| {
            if answer.status == StatusCode::NOT_FOUND || answer.is_web_page() {
                referrers = None;
                return Ok(false);
            }
            if answer.status != StatusCode::OK {
                return Err(answer.failure(&what));
            }
            let page: Index = serde_json::from_slice(&answer.body).map_err(|error| {
                let host = self.registry.host().to_owned();
                Error::Protocol {
                    host,
                    reason: format!("a list of referrers that cannot be read: {error}"),
                }
            })?;
            let list = referrers.get_or_insert_default();
            list.extend(page.manifests);
            if list.len() > MAX_REFERRERS {
                return Err(Error::TooLarge { what: what.clone(), limit: MAX_REFERRERS as u64 });
            }
            Ok(true)
        })
        .await?;
        Ok(referrers)
    }

    /// The list that clients keep where the registry does not.
    pub(crate) async fn kept_by_clients(&self, digest: &Digest) -> Result<Vec<Descriptor>> {
        let index = self.index_of_clients(digest).await?;
        Ok(index.map_or_else(Vec::new, |index| index.manifests))
    }

    async fn index_of_clients(&self, digest: &Digest) -> Result<Option<Index>> {
        let list = Target::Tag(referrer::fallback_tag(digest));
        match self.manifest(&list).await.and_then(|list| list.parse()) {
            Ok(Document::Index(index)) => Ok(Some(index)),
            Ok(Document::Manifest(_)) | Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds a manifest to the list of its subject, where the registry does not.
    pub(super) async fn list_referrer(&self, manifest: &RawManifest) -> Result<()> {
        let Ok(document) = manifest.parse() else { return Ok(()) };
        let Some(subject) = document.subject() else { return Ok(()) };
        let tag = referrer::fallback_tag(&subject.digest);
        let list = self.index_of_clients(&subject.digest).await?;
        let mut list = list.unwrap_or_else(|| Index {
            schema_version: 2,
            media_type: Some(media_type::OCI_INDEX.to_owned()),
            artifact_type: None,
            manifests: Vec::new(),
            subject: None,
            annotations: std::collections::BTreeMap::new(),
        });
        if list.manifests.iter().any(|entry| entry.digest == *manifest.digest()) {
            return Ok(());
        }
        list.manifests.push(referrer::describe(&manifest.descriptor, &document));
        let bytes = serde_json::to_vec(&list).map_err(|error| Error::InvalidManifest {
            digest: manifest.digest().clone(),
            reason: error.to_string(),
        })?;
        let list = RawManifest::new(media_type::OCI_INDEX, bytes);
        Box::pin(self.put_manifest(&list, Some(&tag))).await
    }
}
