//! The artifact as a build sees it: confined to its root, with one file laid over it, and recorded.
//!
//! Wherever the artifact is in its tree, the build finds it at [`ARTIFACT_ROOT`]. So there is something
//! above it that a path can lead to, and be refused.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use flumen_fs::{Bounds, FsError, Tree, clean};
use parking_lot::{Mutex, MutexGuard};

use super::{BuildError, Reads, Stage};

/// What messages call the root of an artifact.
///
/// Flux unpacks into such a directory, with another number each time, and programs that read its messages know how
/// to cut that off. One number for all keeps a message the same from pass to pass.
pub const ARTIFACT_ROOT: &str = "/tmp/kustomization-0";

#[derive(Debug)]
pub(super) struct ArtifactTree {
    source: Arc<dyn Tree>,
    /// The real path of the artifact in `source`. Nothing outside it is read, by whatever links.
    root: PathBuf,
    over: OnceLock<(PathBuf, Vec<u8>)>,
    reads: Mutex<Reads>,
}

impl ArtifactTree {
    pub(super) fn open(tree: &Arc<dyn Tree>, root: &Path) -> Result<Self, BuildError> {
        let root = tree
            .real_dir(root)
            .map_err(|error| BuildError::new(Stage::Path, format!("no artifact: {error}")))?;
        let reads = Mutex::default();
        Ok(Self { source: Arc::clone(tree), root, over: OnceLock::new(), reads })
    }

    /// Puts a file where the artifact has none, or another one. It is not part of what is recorded.
    pub(super) fn lay_over(&self, path: &Path, content: &[u8]) {
        self.over.get_or_init(|| (path.to_owned(), content.to_owned()));
    }

    /// Whether there is a file or a directory.
    pub(super) fn exists(&self, path: &Path) -> bool {
        self.real_dir(path).is_ok() || self.read(path, Bounds::Anywhere).is_ok()
    }

    pub(super) fn take_reads(&self) -> Reads {
        std::mem::take(&mut *self.reads())
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock()
    }

    /// The path below the root, or that it leads out. Nothing is asked about what is outside.
    fn below(path: &Path) -> Result<PathBuf, FsError> {
        let path = clean(path);
        let root = Path::new(ARTIFACT_ROOT);
        Bounds::Within(root).check(&path, &path)?;
        Ok(path.strip_prefix(root).unwrap_or(&path).to_owned())
    }

    /// A path of the source as it is shown.
    fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root)
            .map_or_else(|_| path.to_owned(), |below| join(Path::new(ARTIFACT_ROOT), below))
    }
}

impl Tree for ArtifactTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let below = Self::below(path)?;
        let place = join(&self.root, &below);
        let found = self.source.real_dir(&place).and_then(|real| {
            Bounds::Within(&self.root).check(&place, &real)?;
            Ok(real)
        });
        self.reads().record_directory(below, &self.root, &found);
        let shown = |path: &Path| self.shown(path);
        found.map(|real| shown(&real)).map_err(|error| error.map_paths(shown))
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        if let Some((over, content)) = self.over.get()
            && over == path
        {
            return Ok(content.clone());
        }
        let below = Self::below(path)?;
        let limit = match bounds {
            Bounds::Anywhere => self.root.clone(),
            Bounds::Within(dir) => join(&self.root, &Self::below(dir)?),
        };
        let found = self.source.read(&join(&self.root, &below), Bounds::Within(&limit));
        self.reads().record_file(below, &found);
        found.map_err(|error| error.map_paths(|path| self.shown(path)))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let below = Self::below(dir)?;
        let found = self.source.list(&join(&self.root, &below));
        self.reads().record_listing(below, &found);
        found.map_err(|error| error.map_paths(|path| self.shown(path)))
    }
}

/// The root itself, or what is below it; unlike [`Path::join`], without a slash at its end.
pub(super) fn join(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) }
}
