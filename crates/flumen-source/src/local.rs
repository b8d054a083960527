//! A directory of this machine as a source, for as long as somebody works in it.
//!
//! Its revision is that of the commit that is checked out, if the artifact is what that commit would give:
//! `main@sha1:…`. Otherwise it names the content: `local@sha256:…`. So two artifacts with the same revision have the same
//! files, whatever is edited, undone or committed in between.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use flumen_archive::{Files, GIT_DIRECTORY, Ignore};
use flumen_fs::DiskTree;
use flumen_git::{GitReference, WorkTree};
use flumen_oci::Digest;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{Owner, Storage, StorageError, Stored};

/// What stands for a reference in the revision of content that was never committed.
const UNCOMMITTED: &str = "local";

/// Saving a file is several steps, and saving many takes a moment. After this long without another step it is done.
const QUIET: Duration = Duration::from_millis(100);
/// Where something is always written, it is looked at after this long nevertheless.
const LONGEST: Duration = Duration::from_secs(1);

/// A directory whose content is an artifact.
#[derive(Debug)]
pub struct LocalSource {
    /// The real path.
    directory: PathBuf,
    /// What the last commit that was looked at would give.
    committed: Mutex<Option<Committed>>,
}

#[derive(Clone, Debug)]
struct Committed {
    id: String,
    /// The rules of the source that it was archived with.
    spec_ignore: Option<String>,
    digest: Digest,
}

/// The artifact of a directory.
#[derive(Clone, Debug)]
pub struct LocalArtifact {
    pub revision: String,
    pub stored: Stored,
}

impl LocalSource {
    pub fn new(directory: &Path) -> io::Result<Self> {
        let directory = directory.canonicalize()?;
        if !directory.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { directory, committed: Mutex::default() })
    }

    /// Stores what is in the directory now. Blocks.
    pub fn store(
        &self,
        storage: &Storage,
        owner: &Owner,
        spec_ignore: Option<&str>,
    ) -> Result<LocalArtifact, StorageError> {
        let files = Files { tree: &DiskTree, root: &self.directory };
        let ignore = Ignore::of_working_directory(files, spec_ignore)?;
        let archive = storage.archive(files, &ignore)?;
        let digest = archive.digest();
        // Without a commit that can be read there is still the content.
        let committed = self.committed_as(&digest, storage, spec_ignore).ok().flatten();
        let revision = committed.unwrap_or_else(|| format!("{UNCOMMITTED}@{digest}"));
        let (_, hash) = revision.rsplit_once(':').unwrap_or(("", &revision));
        let stored = storage.publish(owner, &format!("{hash}.tar.gz"), archive)?;
        Ok(LocalArtifact { revision, stored })
    }

    /// The revision of the commit that is checked out, if it would give this artifact.
    fn committed_as(
        &self,
        digest: &Digest,
        storage: &Storage,
        spec_ignore: Option<&str>,
    ) -> Result<Option<String>, StorageError> {
        let Some(work_tree) = WorkTree::around(&self.directory) else { return Ok(None) };
        let (Ok(head), Ok(below)) =
            (work_tree.head(), self.directory.strip_prefix(work_tree.root()))
        else {
            return Ok(None);
        };
        let mut known = self.committed.lock();
        let committed = match known.take() {
            Some(known)
                if known.id == head.commit && known.spec_ignore.as_deref() == spec_ignore =>
            {
                known.digest
            }
            _ => {
                let root = head.root.join(below);
                let files = Files { tree: head.tree.as_ref(), root: &root };
                let ignore = Ignore::of_working_directory(files, spec_ignore)?;
                storage.archive(files, &ignore)?.digest()
            }
        };
        let is_it = committed == *digest;
        *known = Some(Committed {
            id: head.commit.clone(),
            spec_ignore: spec_ignore.map(str::to_owned),
            digest: committed,
        });
        Ok(is_it.then(|| GitReference::Default.revision(&head.resolved())))
    }

    /// Watches the directory, and what is checked out in it.
    pub fn changes(&self) -> Result<LocalChanges, notify::Error> {
        let heard = Arc::new(Notify::new());
        let tell = Arc::clone(&heard);
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                if event.is_ok_and(|event| concerns(&event)) {
                    tell.notify_one();
                }
            })?;
        watcher.watch(&self.directory, RecursiveMode::Recursive)?;
        if let Some(work_tree) = WorkTree::around(&self.directory)
            && !work_tree.git_directory().starts_with(&self.directory)
        {
            // Commits are noted in its log. One that cannot be watched only delays the name of a revision.
            let log = work_tree.git_directory().join("logs");
            let _ = watcher.watch(&log, RecursiveMode::NonRecursive);
            let _ = watcher.watch(work_tree.git_directory(), RecursiveMode::NonRecursive);
        }
        Ok(LocalChanges { _watcher: watcher, heard })
    }
}

/// Whether an event may change the artifact or its revision. Reading is no change; of what Git keeps for itself only
/// what is checked out counts.
fn concerns(event: &notify::Event) -> bool {
    let is_of_git = |path: &Path| path.iter().any(|name| name == GIT_DIRECTORY);
    event.need_rescan()
        || !event.kind.is_access()
            && event.paths.iter().any(|path| !is_of_git(path) || path.ends_with("HEAD"))
}

/// What happens in a directory.
#[derive(Debug)]
pub struct LocalChanges {
    _watcher: RecommendedWatcher,
    heard: Arc<Notify>,
}

impl LocalChanges {
    /// Waits until something has changed, and until that is over.
    pub async fn next(&self) {
        self.heard.notified().await;
        let latest = Instant::now() + LONGEST;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            tokio::select! {
                () = sleep_until(quiet) => return,
                () = self.heard.notified() => {}
            }
        }
    }
}
