//! The source tree with two files laid over it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{Bounds, FsError, MemoryTree, Tree};

use super::OBJECTS;

pub(super) const KUSTOMIZATION: &str = "kustomization.yaml";

/// Other names that a kustomization in the directory of the patch may have; it is not meant here.
const HIDDEN: [&str; 2] = ["kustomization.yml", "Kustomization"];

/// What the engine reads in a stage.
#[derive(Debug)]
pub(super) struct StageTree {
    source: Arc<dyn Tree>,
    /// The directory of the patch file.
    dir: PathBuf,
    over: MemoryTree,
}

impl StageTree {
    pub(super) fn new(
        source: Arc<dyn Tree>,
        dir: PathBuf,
        kustomization: Vec<u8>,
        objects: Vec<u8>,
    ) -> Self {
        let mut over = MemoryTree::new();
        over.insert_file(dir.join(KUSTOMIZATION), kustomization);
        over.insert_file(dir.join(OBJECTS), objects);
        Self { source, dir, over }
    }

    /// The name of a file that is in the directory of the patch.
    fn name_beside_patch<'p>(&self, path: &'p Path) -> Option<&'p str> {
        (path.parent() == Some(&self.dir)).then(|| path.file_name()?.to_str()).flatten()
    }
}

impl Tree for StageTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        self.source.real_dir(path)
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        match self.name_beside_patch(path) {
            Some(KUSTOMIZATION | OBJECTS) => self.over.read(path, bounds),
            Some(name) if HIDDEN.contains(&name) => {
                Err(FsError::NotFound { path: path.to_owned() })
            }
            _ => self.source.read(path, bounds),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        self.source.list(dir)
    }
}
