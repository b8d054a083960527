//! Which artifact came out of which inputs, so that equal inputs are not built twice.
//!
//! A key covers all that is known before a build: the kind of source and where it is, the path in it, the
//! options, the engine. An entry adds what only the build itself could tell, and is good only while all of
//! that still holds: the answers of a directory, the commits behind remote bases.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use flumen_fs::{RemoteTrees as _, Tree};
use flumen_git::{GitReference, GitUrl, Limits, Remotes};
use flumen_kustomize::{KUSTOMIZE_VERSION, RemoteSource};
use flumen_oci::{Digest, Document, RawManifest, Repository, Target};
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    recording::Answer,
    state::{read_json, write_json},
};

/// Changes when the same inputs would give another artifact.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// What a build is made from, as far as it is known before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(Digest);

impl Key {
    /// Everything in `inputs` counts.
    pub(crate) fn new(inputs: &impl Serialize) -> Self {
        let inputs = serde_json::to_vec(&(ENGINE, KUSTOMIZE_VERSION, inputs)).unwrap_or_default();
        Self(Digest::of(&inputs))
    }
}

/// The artifact of an earlier build, and what it took for granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) digest: Digest,
    pub(crate) content_bytes: u64,
    pub(crate) conditions: Conditions,
}

/// What only a build can tell that it depends on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Conditions {
    /// What the files of a directory were; empty where a commit says it all.
    pub(crate) answers: Vec<Answer>,
    /// What was fetched, without credentials.
    pub(crate) remotes: Vec<Fetched>,
}

/// Something remote and its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fetched {
    url: String,
    reference: Option<String>,
    revision: String,
}

impl From<RemoteSource> for Fetched {
    fn from(source: RemoteSource) -> Self {
        let RemoteSource { url, reference, revision } = source;
        Self { url, reference, revision }
    }
}

impl Conditions {
    /// Whether everything is as it was. It may read files and ask servers.
    pub(crate) fn hold(&self, tree: &dyn Tree, stop: &Arc<AtomicBool>) -> bool {
        let remotes = Remotes::new(Limits::default(), Arc::clone(stop));
        self.answers.iter().all(|answer| answer.holds(tree))
            && self.remotes.iter().all(|fetched| fetched.is_current(&remotes, stop))
    }
}

impl Fetched {
    /// A branch that cannot be looked up without credentials counts as moved.
    fn is_current(&self, remotes: &Remotes, stop: &AtomicBool) -> bool {
        if self.revision.starts_with("sha256:") {
            let content = remotes.file(&self.url);
            return content.is_ok_and(|file| Digest::of(&file).to_string() == self.revision);
        }
        let reference = self.reference.clone().map_or(GitReference::Default, GitReference::Name);
        GitUrl::parse(&self.url)
            .and_then(|url| flumen_git::resolve(&url, &reference, &Limits::default(), stop))
            .is_ok_and(|commit| commit.id == self.revision)
    }
}

/// Entries as small files. One that cannot be read is no entry.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub(crate) const fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(crate) fn find(&self, key: &Key) -> Option<Entry> {
        read_json(&self.file(key))
    }

    pub(crate) fn insert(&self, key: &Key, entry: &Entry) -> Result<()> {
        write_json(&self.file(key), entry)
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.dir.join(format!("{}.json", key.0.hex()))
    }
}

/// Gives an artifact that is complete in `repository` one more tag. None if it is not there.
pub(crate) async fn retag(
    repository: &Repository,
    digest: &Digest,
    tag: &str,
) -> Result<Option<RawManifest>> {
    let Ok(manifest) = repository.manifest(&Target::Digest(digest.clone())).await else {
        return Ok(None);
    };
    if let Ok(Document::Manifest(parsed)) = manifest.parse() {
        for blob in std::iter::once(&parsed.config).chain(&parsed.layers) {
            if !repository.has_blob(blob).await? {
                return Ok(None);
            }
        }
    }
    repository.put_manifest(&manifest, Some(tag)).await?;
    Ok(Some(manifest))
}
