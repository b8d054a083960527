//! Sources that are answered from a directory of this machine, whatever their spec says of a remote.
//!
//! The spec still decides what is ignored and whether the source is suspended. What concerns a remote (its reference,
//! credentials, signatures) does not count: the directory is what its owner has made of it.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

use flumen_api::Artifact;
use flumen_runtime::{Failure, Key, Manager, Runtime, Trigger};
use flumen_source::{LocalSource, StorageError};
use tokio::task::spawn_blocking;

use super::{
    Sources,
    reconciler::{BUILDING, Produced, STORAGE_FAILED, Source, Step, failed, owner},
};

/// Directories by the sources that they stand for.
pub(crate) type LocalSources = BTreeMap<Key, Arc<LocalSource>>;

/// Fails with the directory that cannot be used.
pub(crate) fn open(
    directories: &BTreeMap<Key, PathBuf>,
) -> Result<LocalSources, (PathBuf, io::Error)> {
    let opened = directories.iter().map(|(key, directory)| {
        let source = LocalSource::new(directory).map_err(|error| (directory.clone(), error))?;
        Ok((key.clone(), Arc::new(source)))
    });
    opened.collect()
}

/// Requests a reconciliation whenever something changes in a directory.
pub(crate) fn follow_all(manager: &mut Manager, sources: &Sources) {
    for (key, source) in &sources.directories {
        manager.spawn(follow(sources.runtime.clone(), key.clone(), source.clone()));
    }
}

async fn follow(runtime: Arc<Runtime>, key: Key, source: Arc<LocalSource>) {
    let changes = match source.changes() {
        Ok(changes) => changes,
        Err(error) => {
            tracing::warn!(object = %key, %error, "its directory is read at every interval only");
            return;
        }
    };
    loop {
        // The first time for changes before the directory was watched.
        runtime.queue.add(key.clone(), Trigger::Due);
        changes.next().await;
    }
}

/// Stores what is in the directory now.
pub(super) async fn produce<S: Source>(
    object: &S,
    sources: &Sources,
    source: Arc<LocalSource>,
    step: &Step<'_, S>,
) -> Result<Produced, Failure> {
    let owner = owner(object)?;
    let storage = Arc::clone(sources.artifacts.storage());
    let ignore = object.ignore().map(str::to_owned);
    let stored = spawn_blocking(move || source.store(&storage, &owner, ignore.as_deref())).await;
    let stored = stored.unwrap_or_else(|error| Err(StorageError::Archive(error.into())));
    let local = stored.map_err(|error| {
        let message = format!("unable to archive artifact to storage: {error}");
        failed(STORAGE_FAILED, "ArchiveOperationFailed", message)
    })?;
    let (revision, stored) = (local.revision, local.stored);
    let news = format!("stored artifact for revision '{revision}'");
    let digest = stored.digest.to_string();
    if object.artifact().is_some_and(|known| known.revision == revision && known.digest == digest) {
        let note = format!("artifact up-to-date with local revision: '{revision}'");
        return Ok(Produced::Unchanged { reason: "ArtifactUpToDate", note, news });
    }
    step.set(format!("{BUILDING}: new revision '{revision}'"));
    let artifact = Artifact {
        url: sources.artifact_url(&stored.path),
        path: stored.path,
        revision,
        digest,
        last_update_time: step.now(),
        size: i64::try_from(stored.size).ok(),
        metadata: BTreeMap::new(),
    };
    Ok(Produced::New { artifact, news })
}
