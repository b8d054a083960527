//! The artifact as a build sees it: confined to its root, with one file laid over it, and recorded.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use flumen_fs::{Bounds, FsError, Tree, clean};

use super::{BuildError, Reads, Stage};

#[derive(Debug)]
pub(super) struct ArtifactTree {
    source: Arc<dyn Tree>,
    /// The real path of the artifact. Nothing outside it is read, by whatever links.
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

    pub(super) fn root(&self) -> &Path {
        &self.root
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
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path below the root, or that it leads out. Nothing is asked about what is outside.
    fn below(&self, path: &Path) -> Result<PathBuf, FsError> {
        let path = clean(path);
        Bounds::Within(&self.root).check(&path, &path)?;
        Ok(path.strip_prefix(&self.root).unwrap_or(&path).to_owned())
    }
}

impl Tree for ArtifactTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let below = self.below(path)?;
        let found = self.source.real_dir(path).and_then(|real| {
            Bounds::Within(&self.root).check(path, &real)?;
            Ok(real)
        });
        self.reads().record_directory(below, &self.root, &found);
        found
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        if let Some((over, content)) = self.over.get()
            && over == path
        {
            return Ok(content.clone());
        }
        let below = self.below(path)?;
        let bounds = match bounds {
            Bounds::Within(dir) if dir.starts_with(&self.root) => bounds,
            _ => Bounds::Within(&self.root),
        };
        let found = self.source.read(path, bounds);
        self.reads().record_file(below, &found);
        found
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let below = self.below(dir)?;
        let found = self.source.list(dir);
        self.reads().record_listing(below, &found);
        found
    }
}
