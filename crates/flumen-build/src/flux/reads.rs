//! What a build has read, and whether another artifact would answer the same.

use std::{
    collections::BTreeMap,
    mem::{Discriminant, discriminant},
    path::{Path, PathBuf},
};

use flumen_fs::{Bounds, FsError, Tree};
use sha2::{Digest as _, Sha256};

type Hash = [u8; 32];

/// Every question that a build has asked an artifact, with the answer; paths begin at the root.
///
/// What is absent counts as well: a file that appears where a build has looked for one changes the build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    files: BTreeMap<PathBuf, Answer<Hash>>,
    /// Where directories really are.
    directories: BTreeMap<PathBuf, Answer<PathBuf>>,
    listings: BTreeMap<PathBuf, Answer<Hash>>,
}

/// What was found, or which kind of error.
type Answer<T> = Result<T, Discriminant<FsError>>;

impl Reads {
    pub(super) fn record_file(&mut self, path: PathBuf, found: &Result<Vec<u8>, FsError>) {
        self.files.entry(path).or_insert_with(|| content(found));
    }

    pub(super) fn record_directory(
        &mut self,
        path: PathBuf,
        root: &Path,
        found: &Result<PathBuf, FsError>,
    ) {
        self.directories.entry(path).or_insert_with(|| place(found, root));
    }

    pub(super) fn record_listing(&mut self, dir: PathBuf, found: &Result<Vec<String>, FsError>) {
        self.listings.entry(dir).or_insert_with(|| names(found));
    }

    /// Whether the same build would read the same in the artifact at `root` of another tree.
    ///
    /// Files are read and hashed, which costs a small part of a build.
    pub fn unchanged_in(&self, tree: &dyn Tree, root: &Path) -> bool {
        let Ok(root) = tree.real_dir(root) else { return false };
        let real_dir = |path: &Path| {
            let real = tree.real_dir(path)?;
            Bounds::Within(&root).check(path, &real)?;
            Ok(real)
        };
        self.directories
            .iter()
            .all(|(path, answer)| place(&real_dir(&root.join(path)), &root) == *answer)
            && self
                .listings
                .iter()
                .all(|(path, answer)| names(&tree.list(&root.join(path))) == *answer)
            && self.files.iter().all(|(path, answer)| {
                content(&tree.read(&root.join(path), Bounds::Within(&root))) == *answer
            })
    }
}

fn content(found: &Result<Vec<u8>, FsError>) -> Answer<Hash> {
    found.as_ref().map(|bytes| Sha256::digest(bytes).into()).map_err(discriminant)
}

fn place(found: &Result<PathBuf, FsError>, root: &Path) -> Answer<PathBuf> {
    let below = |real: &PathBuf| real.strip_prefix(root).unwrap_or(real).to_owned();
    found.as_ref().map(below).map_err(discriminant)
}

fn names(found: &Result<Vec<String>, FsError>) -> Answer<Hash> {
    // No name holds a slash, so that no two listings are written alike.
    let hash = |names: &Vec<String>| Sha256::digest(names.join("/")).into();
    found.as_ref().map(hash).map_err(discriminant)
}
