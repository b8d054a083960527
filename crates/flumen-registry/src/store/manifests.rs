//! Manifests, their tags and what refers to them.

use bytes::Bytes;

use super::{
    Refusal, Store, StoreError,
    rows::{LINKS, MANIFESTS, REFERRERS, Rows, TAGS, USES, Visit, key, prefix},
};
use crate::{
    digest::Digest,
    manifest::Manifest,
    name::{Reference, RepositoryName, Tag},
};

#[derive(Debug)]
pub(crate) struct StoredManifest {
    pub(crate) digest: Digest,
    pub(crate) media_type: String,
    pub(crate) content: Bytes,
}

/// A part of a list, and whether there is more behind it.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) entries: Vec<String>,
    /// The last key of this part, if more follow.
    pub(crate) next: Option<String>,
}

impl Store {
    pub(crate) async fn manifest(
        &self,
        repository: &RepositoryName,
        reference: &Reference,
    ) -> Result<Result<StoredManifest, Refusal>, StoreError> {
        let (repository, reference) = (repository.clone(), reference.clone());
        let found = self.read(move |view| {
            let Some(digest) = resolve(view, &repository, &reference)? else { return Ok(None) };
            let key = key([repository.as_str(), digest.as_str()]);
            Ok(view.get(MANIFESTS, &key)?.and_then(|value| decode(digest, value)))
        });
        Ok(found.await?.ok_or(Refusal::ManifestUnknown))
    }

    /// Stores a manifest whose content is there already, and points a tag at it.
    pub(crate) async fn put_manifest(
        &self,
        repository: &RepositoryName,
        tag: Option<&Tag>,
        digest: &Digest,
        manifest: Manifest,
        content: Bytes,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let (repository, tag, digest) = (repository.clone(), tag.cloned(), digest.clone());
        self.change(move |batch| {
            let (repository, digest) = (repository.as_str(), digest.as_str());
            for needed in &manifest.needs {
                let needed = needed.as_str();
                let held = batch.contains(LINKS, &key([needed, repository]))?
                    || batch.contains(MANIFESTS, &key([repository, needed]))?;
                if !held {
                    return Ok(Err(Refusal::ContentMissing(needed.to_owned())));
                }
            }
            for needed in &manifest.needs {
                batch.insert(USES, &key([repository, needed.as_str(), digest]), &[])?;
            }
            if let Some(referrer) = &manifest.referrer {
                let key = key([repository, referrer.subject.as_str(), digest]);
                batch.insert(REFERRERS, &key, referrer.entry.as_bytes())?;
            }
            let value = encode(&manifest.media_type, &content);
            batch.insert(MANIFESTS, &key([repository, digest]), &value)?;
            if let Some(tag) = &tag {
                batch.insert(TAGS, &key([repository, tag.as_str()]), digest.as_bytes())?;
            }
            Ok(Ok(()))
        })
        .await
    }

    /// Removes a tag alone, or a manifest with all its tags.
    pub(crate) async fn delete_manifest(
        &self,
        repository: &RepositoryName,
        reference: &Reference,
    ) -> Result<Result<(), Refusal>, StoreError> {
        let (repository, reference) = (repository.clone(), reference.clone());
        self.change(move |batch| {
            let repository = repository.as_str();
            let digest = match &reference {
                Reference::Digest(digest) => digest,
                Reference::Tag(tag) => {
                    let removed = batch.remove(TAGS, &key([repository, tag.as_str()]))?;
                    return Ok(if removed { Ok(()) } else { Err(Refusal::ManifestUnknown) });
                }
            };
            let manifest_key = key([repository, digest.as_str()]);
            let Some(stored) = batch
                .get(MANIFESTS, &manifest_key)?
                .and_then(|value| decode(digest.clone(), value))
            else {
                return Ok(Err(Refusal::ManifestUnknown));
            };
            batch.remove(MANIFESTS, &manifest_key)?;
            let media_type = Some(stored.media_type.as_str());
            if let Ok(manifest) = Manifest::read(&stored.content, digest, media_type) {
                for needed in &manifest.needs {
                    batch.remove(USES, &key([repository, needed.as_str(), digest.as_str()]))?;
                }
                if let Some(referrer) = &manifest.referrer {
                    let subject = referrer.subject.as_str();
                    batch.remove(REFERRERS, &key([repository, subject, digest.as_str()]))?;
                }
            }
            let mut tags = Vec::new();
            batch.visit(TAGS, &prefix([repository]), "", &mut |tag, target| {
                if target == digest.as_str().as_bytes() {
                    tags.push(tag.to_owned());
                }
                Visit::Next
            })?;
            for tag in tags {
                batch.remove(TAGS, &key([repository, &tag]))?;
            }
            Ok(Ok(()))
        })
        .await
    }

    /// Tags in the order of their bytes.
    pub(crate) async fn tags(
        &self,
        repository: &RepositoryName,
        after: String,
        limit: usize,
    ) -> Result<Result<Page, Refusal>, StoreError> {
        let prefix = prefix([repository.as_str()]);
        self.read(move |view| {
            if !view.any(MANIFESTS, &prefix)? {
                return Ok(Err(Refusal::RepositoryUnknown));
            }
            let mut page = Page::default();
            view.visit(TAGS, &prefix, &after, &mut |tag, _| {
                if page.entries.len() == limit {
                    page.next = page.entries.last().cloned();
                    return Visit::Stop;
                }
                page.entries.push(tag.to_owned());
                Visit::Next
            })?;
            Ok(Ok(page))
        })
        .await
    }

    /// Descriptors, as JSON, of the manifests whose subject is the digest; about `budget` bytes.
    pub(crate) async fn referrers(
        &self,
        repository: &RepositoryName,
        subject: &Digest,
        after: String,
        budget: usize,
    ) -> Result<Page, StoreError> {
        let prefix = prefix([repository.as_str(), subject.as_str()]);
        self.read(move |view| {
            let mut page = Page::default();
            let (mut size, mut last) = (0, String::new());
            view.visit(REFERRERS, &prefix, &after, &mut |digest, entry| {
                if size >= budget {
                    page.next = Some(std::mem::take(&mut last));
                    return Visit::Stop;
                }
                size += entry.len();
                digest.clone_into(&mut last);
                page.entries.push(String::from_utf8_lossy(entry).into_owned());
                Visit::Next
            })?;
            Ok(page)
        })
        .await
    }

    /// Repositories that hold a manifest.
    pub(crate) async fn repositories(
        &self,
        after: String,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.read(move |view| {
            let mut page = Page::default();
            // Steps from one repository to the next, however many manifests each has.
            let mut behind = if after.is_empty() { after } else { past(&after) };
            loop {
                let mut found = None;
                view.visit(MANIFESTS, "", &behind, &mut |key, _| {
                    found = key.split_once('\0').map(|(repository, _)| repository.to_owned());
                    Visit::Stop
                })?;
                let Some(repository) = found else { break };
                if page.entries.len() == limit {
                    page.next = page.entries.last().cloned();
                    break;
                }
                behind = past(&repository);
                page.entries.push(repository);
            }
            Ok(page)
        })
        .await
    }
}

/// A key behind all keys of the repository, and before those of any other.
fn past(repository: &str) -> String {
    format!("{repository}\x01")
}

fn resolve(
    rows: &impl Rows,
    repository: &RepositoryName,
    reference: &Reference,
) -> Result<Option<Digest>, redb::Error> {
    match reference {
        Reference::Digest(digest) => Ok(Some(digest.clone())),
        Reference::Tag(tag) => {
            let target = rows.get(TAGS, &key([repository.as_str(), tag.as_str()]))?;
            Ok(target.and_then(|target| std::str::from_utf8(&target).ok()?.parse().ok()))
        }
    }
}

fn encode(media_type: &str, content: &[u8]) -> Vec<u8> {
    [media_type.as_bytes(), b"\n", content].concat()
}

fn decode(digest: Digest, value: Vec<u8>) -> Option<StoredManifest> {
    let end = value.iter().position(|byte| *byte == b'\n')?;
    let media_type = std::str::from_utf8(&value[..end]).ok()?.to_owned();
    Some(StoredManifest { digest, media_type, content: Bytes::from(value).slice(end + 1..) })
}
