//! Which manifests of a layout speak about which others.
//!
//! A layout has no such list, so manifests are asked for their subject. Content never changes, so
//! each is asked once.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{Shared, index::Entry};
use crate::{Descriptor, Digest, Document, RawManifest, Result, Target, referrer};

/// What is known about manifests that have been asked.
#[derive(Debug, Default)]
pub(super) struct Subjects(Mutex<HashMap<Digest, Option<Referrer>>>);

#[derive(Clone, Debug)]
struct Referrer {
    subject: Digest,
    /// As a registry would list it.
    descriptor: Descriptor,
}

impl Shared {
    /// Manifests that name `digest` as their subject, and those that the tag lists which stands
    /// in for such lists on registries that have none.
    pub(super) fn referrers(&self, digest: &Digest) -> Result<Vec<Descriptor>> {
        let mut found = Vec::new();
        for entry in self.store.index()?.entries() {
            let referrer = self.referrer(entry.descriptor())?;
            found.extend(referrer.filter(|r| r.subject == *digest).map(|r| r.descriptor));
        }
        let fallback = Target::Tag(referrer::fallback_tag(digest));
        if self.find(&fallback)?.is_some()
            && let Document::Index(index) = self.manifest(&fallback)?.parse()?
        {
            found.extend(index.manifests);
        }
        found.sort_by(|a, b| a.digest.cmp(&b.digest));
        found.dedup_by(|a, b| a.digest == b.digest);
        Ok(found)
    }

    /// What an entry is about: by its manifest, or by a tag that names a digest.
    pub(super) fn subject(&self, entry: &Entry) -> Result<Option<Digest>> {
        if let Some(subject) = entry.tag().and_then(referrer::subject_of_tag) {
            return Ok(Some(subject));
        }
        if entry.tag().is_some() {
            return Ok(None);
        }
        Ok(self.referrer(entry.descriptor())?.map(|referrer| referrer.subject))
    }

    fn referrer(&self, manifest: &Descriptor) -> Result<Option<Referrer>> {
        let known = || self.subjects.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(referrer) = known().get(&manifest.digest) {
            return Ok(referrer.clone());
        }
        let referrer = if manifest.is_manifest() {
            let bytes = super::read_manifest(&self.locate(manifest)?, &manifest.digest)?;
            let raw = RawManifest { descriptor: manifest.clone(), bytes };
            let document = raw.parse()?;
            document.subject().map(|subject| Referrer {
                subject: subject.digest.clone(),
                descriptor: referrer::describe(&raw.descriptor, &document),
            })
        } else {
            None
        };
        known().insert(manifest.digest.clone(), referrer.clone());
        Ok(referrer)
    }
}
