//! Where signatures are found, and their content.

use flumen_sign::{BUNDLE_MEDIA_TYPE_PREFIX, Refusal, Signature};

use super::store::{self, SIGNATURE_ANNOTATION, SIMPLE_SIGNING};
use crate::{Descriptor, Document, Error, Manifest, Repository, Result, Target};

/// cosign's artifact type for signatures of the older form that refer to their subject.
const SIGNATURE_ARTIFACT: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// How many signatures of one artifact are looked at, and how large one may be. A bundle with
/// certificate and log entries has some ten kilobytes.
const MAX_SIGNATURES: usize = 100;
const MAX_BYTES: u64 = 1 << 20;

/// Blobs that say that they are signatures.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) list: Vec<Candidate>,
    /// There are more of them than are looked at.
    pub(super) truncated: bool,
}

pub(super) struct Candidate(Descriptor);

impl Candidates {
    /// Those below the tag that is made of the digest.
    pub(super) async fn tagged(repository: &Repository, subject: &Descriptor) -> Result<Self> {
        let mut found = Self::default();
        match store::tagged_manifest(repository, &subject.digest).await {
            Ok(Some(manifest)) => found.add(manifest),
            // What cannot be read as a manifest holds no signature that counts.
            Ok(None) | Err(Error::InvalidManifest { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(found)
    }

    /// Those in manifests whose subject it is.
    pub(super) async fn referring(repository: &Repository, subject: &Descriptor) -> Result<Self> {
        let mut referrers = repository.referrers(&subject.digest, None).await?;
        referrers.retain(holds_signatures);
        let mut found = Self { truncated: referrers.len() > MAX_SIGNATURES, ..Self::default() };
        for referrer in referrers.into_iter().take(MAX_SIGNATURES) {
            match repository.manifest(&Target::Digest(referrer.digest)).await {
                Ok(manifest) => {
                    if let Ok(Document::Manifest(manifest)) = manifest.parse() {
                        found.add(manifest);
                    }
                }
                // The list can be older than a deletion.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    pub(super) fn append(&mut self, other: Self) {
        self.list.extend(other.list);
        self.truncated |= other.truncated || self.list.len() > MAX_SIGNATURES;
        self.list.truncate(MAX_SIGNATURES);
    }

    fn add(&mut self, manifest: Manifest) {
        let list = manifest.layers.into_iter().map(Candidate).collect();
        self.append(Self { list, truncated: false });
    }
}

impl Candidate {
    /// Reads it. An error is one of the repository; what is wrong with the signature itself is a
    /// refusal, after which others can still do.
    pub(super) async fn fetch(
        &self,
        repository: &Repository,
    ) -> Result<Result<Signature, Refusal>> {
        let Self(descriptor) = self;
        let unreadable = |reason: String| Ok(Err(Refusal::Unreadable { reason }));
        if descriptor.size > MAX_BYTES {
            return unreadable(format!("it has more than {MAX_BYTES} bytes"));
        }
        let is_simple = descriptor.media_type == SIMPLE_SIGNING;
        if !is_simple && !descriptor.media_type.starts_with(BUNDLE_MEDIA_TYPE_PREFIX) {
            return unreadable(format!("its media type is `{}`", descriptor.media_type));
        }
        let content = match repository.blob(descriptor).await {
            Ok(stream) => stream.collect().await?,
            Err(error) if error.is_not_found() => return unreadable(error.to_string()),
            Err(error) => return Err(error),
        };
        Ok(if is_simple {
            let signature = descriptor.annotations.get(SIGNATURE_ANNOTATION);
            Signature::simple(content.to_vec(), signature.map_or("", String::as_str))
        } else {
            Signature::bundle(&content)
        })
    }
}

fn holds_signatures(referrer: &Descriptor) -> bool {
    let kind = referrer.artifact_type.as_deref().unwrap_or_default();
    kind == SIGNATURE_ARTIFACT || kind.starts_with(BUNDLE_MEDIA_TYPE_PREFIX)
}
