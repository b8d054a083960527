//! Which manifests of a layout speak about which others.
//!
//! A layout has no such list, so manifests are asked for their subject. Content never changes, so
//! each is asked once.

use std::{collections::HashMap, sync::Arc};

use super::{
    Shared,
    index::{Entry, LayoutIndex},
};
use crate::{Descriptor, Digest, Document, RawManifest, Result, Target, referrer};
use parking_lot::{Mutex, MutexGuard};

/// What is known about manifests that have been asked.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    asked: Mutex<HashMap<Digest, Option<Referrer>>>,
    listed: Mutex<Option<Listed>>,
}

/// Who speaks about whom in one state of the index.
#[derive(Debug)]
struct Listed {
    index: Arc<LayoutIndex>,
    by_subject: Arc<HashMap<Digest, Vec<Descriptor>>>,
}

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
        let mut found = self.by_subject()?.get(digest).cloned().unwrap_or_default();
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

    pub(super) fn by_subject(&self) -> Result<Arc<HashMap<Digest, Vec<Descriptor>>>> {
        let index = self.store.index()?;
        if let Some(listed) = &*locked(&self.subjects.listed)
            && Arc::ptr_eq(&listed.index, &index)
        {
            return Ok(Arc::clone(&listed.by_subject));
        }
        let mut by_subject: HashMap<Digest, Vec<Descriptor>> = HashMap::new();
        for entry in index.entries() {
            if let Some(Referrer { subject, descriptor }) = self.referrer(entry.descriptor())? {
                by_subject.entry(subject).or_default().push(descriptor);
            }
        }
        let by_subject = Arc::new(by_subject);
        *locked(&self.subjects.listed) =
            Some(Listed { index, by_subject: Arc::clone(&by_subject) });
        Ok(by_subject)
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
        if let Some(referrer) = locked(&self.subjects.asked).get(&manifest.digest) {
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
        locked(&self.subjects.asked).insert(manifest.digest.clone(), referrer.clone());
        Ok(referrer)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in there is whole whatever happens to those who use it.
    mutex.lock()
}
