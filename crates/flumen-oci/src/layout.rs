//! An OCI layout: a directory or tar file that holds content as a registry would.
//!
//! ```text
//! oci-layout            the version of the format
//! index.json            manifests and their tags
//! blobs/sha256/<hex>    content, manifests included
//! ```
//!
//! `index.json` lists what has a tag, what was put by its digest alone, and signatures and the like,
//! whose manifests name their subject. The children of an index are reached through it.
#![allow(clippy::disallowed_methods, reason = "a layout is files, and content has an age")]

mod archive;
mod collect;
mod directory;
mod extent;
mod index;
mod referrers;
mod snapshot;
mod store;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use serde::{Deserialize, de::IgnoredAny};

pub use self::collect::Collected;
use self::{
    archive::Archive,
    directory::{Directory, Visibility},
    extent::Extent,
    referrers::Subjects,
    store::Store,
};
use crate::{
    BlobStream, Descriptor, Digest, Document, Error, RawManifest, Result, Target, media_type,
    reference::is_tag,
};

/// What registries accept, too.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// An OCI layout on disk.
///
/// Several processes may use one directory at once. An archive that is written appears under its
/// name with [`Layout::finish`].
#[derive(Clone, Debug)]
pub struct Layout(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    subjects: Subjects,
}

/// A tag of a layout.
#[derive(Clone, Debug)]
pub struct Tagged {
    pub tag: String,
    pub manifest: Descriptor,
    /// When the manifest was last put here, under any tag.
    pub modified: SystemTime,
}

impl Layout {
    /// Opens a layout that exists: a directory, or a tar file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = if path.is_file() {
            Store::Archive(Archive::open(path)?)
        } else {
            Store::Directory(Directory::open(path)?)
        };
        Ok(Self::new(store))
    }

    /// Opens a directory, or makes a layout where it is missing or empty.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let directory = Directory::create(path.as_ref(), Visibility::Default)?;
        Ok(Self::new(Store::Directory(directory)))
    }

    /// Like [`Layout::create`], but a new directory is for its owner alone.
    pub fn create_private(path: impl AsRef<Path>) -> Result<Self> {
        let directory = Directory::create(path.as_ref(), Visibility::Private)?;
        Ok(Self::new(Store::Directory(directory)))
    }

    /// Begins a tar file with what is already in it. It changes with [`Layout::finish`] or not at
    /// all.
    pub fn create_archive(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(Store::Archive(Archive::create(path.as_ref())?)))
    }

    fn new(store: Store) -> Self {
        Self(Arc::new(Shared { store, subjects: Subjects::default() }))
    }

    pub fn path(&self) -> &Path {
        self.0.store.path()
    }

    /// Completes an archive that was being written. A directory is always complete.
    pub async fn finish(&self) -> Result<()> {
        self.on_disk(|layout| match &layout.store {
            Store::Directory(_) => Ok(()),
            Store::Archive(archive) => archive.finish(),
        })
        .await
    }

    /// What is meant when no tag is given: the only artifact in it.
    pub async fn sole_target(&self) -> Result<Target> {
        self.on_disk(Shared::sole_target).await
    }

    /// All tags, in the order of their bytes, with the time of their manifests.
    pub async fn tagged(&self) -> Result<Vec<Tagged>> {
        self.on_disk(Shared::tagged).await
    }

    /// Removes a tag; says whether it was there. The content goes with the next collection.
    pub async fn untag(&self, tag: &str) -> Result<bool> {
        let target = Target::Tag(tag.to_owned());
        self.on_disk(move |layout| layout.store.update(|index| index.remove(&target))).await
    }

    /// Removes content that no manifest of the index leads to and that has not been put or asked
    /// for within `min_age`, which must be longer than any transfer into the layout takes.
    pub async fn collect(&self, min_age: Duration) -> Result<Collected> {
        self.on_disk(move |layout| layout.collect(min_age)).await
    }

    pub(crate) async fn resolve(&self, target: &Target) -> Result<Descriptor> {
        let target = target.clone();
        self.on_disk(move |layout| match &target {
            Target::Tag(_) => layout.require(&target),
            Target::Digest(_) => Ok(layout.manifest(&target)?.descriptor),
        })
        .await
    }

    pub(crate) async fn manifest(&self, target: &Target) -> Result<RawManifest> {
        let target = target.clone();
        self.on_disk(move |layout| layout.manifest(&target)).await
    }

    pub(crate) async fn put_manifest(
        &self,
        manifest: &RawManifest,
        tag: Option<&str>,
    ) -> Result<()> {
        let content = BlobStream::from_bytes(manifest.bytes.clone());
        self.put_blob(&manifest.descriptor, content).await?;
        let (manifest, tag) = (manifest.clone(), tag.map(str::to_owned));
        self.on_disk(move |layout| {
            let children: Vec<Digest> = match manifest.parse() {
                Ok(Document::Index(index)) => {
                    index.manifests.into_iter().map(|child| child.digest).collect()
                }
                _ => Vec::new(),
            };
            let entry = &manifest.descriptor;
            layout.store.update(|index| index.put(entry, tag.as_deref(), &children))
        })
        .await
    }

    pub(crate) async fn has_blob(&self, descriptor: &Descriptor) -> Result<bool> {
        let descriptor = descriptor.clone();
        self.on_disk(move |layout| layout.store.keep(&descriptor)).await
    }

    pub(crate) async fn blob(&self, descriptor: &Descriptor) -> Result<BlobStream> {
        let wanted = descriptor.clone();
        let extent = self.on_disk(move |layout| layout.locate(&wanted)).await?;
        extent.stream(descriptor).await
    }

    pub(crate) async fn put_blob(
        &self,
        descriptor: &Descriptor,
        content: BlobStream,
    ) -> Result<()> {
        if self.has_blob(descriptor).await? {
            return Ok(());
        }
        let wanted = descriptor.clone();
        let mut incoming = self.on_disk(move |layout| layout.store.begin(&wanted)).await?;
        let path = incoming.place.path().to_owned();
        incoming.file = extent::write(incoming.file, &path, descriptor, content).await?;
        let digest = descriptor.digest.clone();
        self.on_disk(move |layout| layout.store.commit(incoming, &digest)).await
    }

    pub(crate) async fn tags(&self) -> Result<Vec<String>> {
        self.on_disk(|layout| {
            let index = layout.store.index()?;
            Ok(index.tags().into_iter().map(str::to_owned).collect())
        })
        .await
    }

    pub(crate) async fn referrers(
        &self,
        digest: &Digest,
        artifact_type: Option<&str>,
    ) -> Result<Vec<Descriptor>> {
        let digest = digest.clone();
        let mut found = self.on_disk(move |layout| layout.referrers(&digest)).await?;
        if artifact_type.is_some() {
            found.retain(|referrer| referrer.artifact_type.as_deref() == artifact_type);
        }
        Ok(found)
    }

    pub(crate) async fn delete(&self, target: &Target) -> Result<()> {
        let target = target.clone();
        self.on_disk(move |layout| {
            layout.require(&target)?;
            layout.store.update(|index| index.remove(&target)).map(drop)
        })
        .await
    }

    /// Runs what waits for the disk where waiting does no harm.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.0);
        blocking(move || work(&shared)).await
    }
}

impl Shared {
    /// The entry of the index that a tag or digest names.
    fn find(&self, target: &Target) -> Result<Option<Descriptor>> {
        let found = self.store.index()?.find(target).cloned();
        Ok(found.map(|entry| Descriptor { annotations: BTreeMap::new(), ..entry }))
    }

    fn require(&self, target: &Target) -> Result<Descriptor> {
        self.find(target)?.ok_or_else(|| match target {
            Target::Tag(tag) => {
                Error::NoSuchTag { place: self.store.path().to_owned(), tag: tag.clone() }
            }
            Target::Digest(digest) => self.not_held(digest),
        })
    }

    fn manifest(&self, target: &Target) -> Result<RawManifest> {
        if let Target::Digest(digest) = target
            && self.find(target)?.is_none()
        {
            return self.unlisted(digest);
        }
        let descriptor = self.require(target)?;
        let bytes = read_manifest(&self.locate(&descriptor)?, &descriptor.digest)?;
        Ok(RawManifest { descriptor, bytes })
    }

    /// The child of an index, which says itself what it is.
    fn unlisted(&self, digest: &Digest) -> Result<RawManifest> {
        let extent = self.store.locate(digest)?.ok_or_else(|| self.not_held(digest))?;
        let bytes = read_manifest(&extent, digest)?;
        let descriptor = Descriptor::new(&media_type_of(&bytes), digest.clone(), extent.size);
        Ok(RawManifest { descriptor, bytes })
    }

    /// Where the content lies that a descriptor names.
    fn locate(&self, descriptor: &Descriptor) -> Result<Extent> {
        let extent = self.store.locate(&descriptor.digest)?;
        let extent = extent.ok_or_else(|| self.not_held(&descriptor.digest))?;
        if extent.size != descriptor.size {
            let (digest, expected) = (descriptor.digest.clone(), descriptor.size);
            return Err(Error::SizeMismatch { digest, expected });
        }
        Ok(extent)
    }

    fn not_held(&self, digest: &Digest) -> Error {
        Error::NotHeld { place: self.store.path().to_owned(), digest: digest.clone() }
    }

    fn sole_target(&self) -> Result<Target> {
        let place = || self.store.path().to_owned();
        let (mut digests, mut tags) = (BTreeSet::new(), Vec::new());
        for entry in self.store.index()?.entries() {
            // Other names are those of images that were taken along.
            if entry.tag().is_none_or(is_tag) && self.subject(entry)?.is_none() {
                digests.insert(entry.descriptor().digest.clone());
                tags.extend(entry.tag().map(str::to_owned));
            }
        }
        let digest = digests.pop_first().ok_or_else(|| Error::EmptyLayout { place: place() })?;
        if !digests.is_empty() {
            tags.sort_unstable();
            return Err(Error::AmbiguousLayout { place: place(), tags });
        }
        Ok(match tags.pop() {
            Some(tag) if tags.is_empty() => Target::Tag(tag),
            _ => Target::Digest(digest),
        })
    }

    fn tagged(&self) -> Result<Vec<Tagged>> {
        let index = self.store.index()?;
        let entries = index.entries().iter().filter_map(|entry| Some((entry.tag()?, entry)));
        let tagged = entries.map(|(tag, entry)| self.with_time(tag, entry.descriptor()));
        let mut tagged: Vec<Tagged> = tagged.collect::<Result<_>>()?;
        tagged.sort_by(|a, b| a.tag.cmp(&b.tag));
        Ok(tagged)
    }

    fn with_time(&self, tag: &str, manifest: &Descriptor) -> Result<Tagged> {
        let extent = self.locate(manifest)?;
        let modified = std::fs::metadata(&extent.path)
            .and_then(|metadata| metadata.modified())
            .map_err(|source| extent::io_error(&extent.path, source))?;
        Ok(Tagged { tag: tag.to_owned(), manifest: manifest.clone(), modified })
    }
}

fn read_manifest(extent: &Extent, digest: &Digest) -> Result<Bytes> {
    if extent.size > MAX_MANIFEST_BYTES {
        let reason = format!("it is larger than {MAX_MANIFEST_BYTES} bytes");
        return Err(Error::InvalidManifest { digest: digest.clone(), reason });
    }
    extent.read(digest)
}

/// What a manifest says it is. The oldest ones of the OCI do not say, but only an index lists
/// manifests.
fn media_type_of(bytes: &[u8]) -> String {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Kind {
        media_type: Option<String>,
        manifests: Option<IgnoredAny>,
    }
    let kind: Kind = serde_json::from_slice(bytes).unwrap_or_default();
    kind.media_type.unwrap_or_else(|| match kind.manifests {
        Some(_) => media_type::OCI_INDEX.to_owned(),
        None => media_type::OCI_MANIFEST.to_owned(),
    })
}

/// Moves work that waits for the disk to the threads that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => {
                Err(Error::Io { path: PathBuf::new(), source: std::io::Error::other(error) })
            }
        },
    }
}
