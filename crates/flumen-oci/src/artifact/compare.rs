//! How an artifact differs from a directory.
//!
//! Flux compares the compressed bytes, which differ between compressors. Here both sides are unpacked
//! and compared file by file.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read},
    path::{Path, PathBuf},
};

use flumen_archive::{FileEntry, Meter, PathOptions, Rules, Sink, UnpackOptions, unpack};

use super::{Metadata, PullOptions, layer::name_of, pack_path, read::Found};
use crate::{Digest, Hasher, Repository, Result, Target, digest::Algorithm};

/// A file that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: PathBuf,
    pub kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    OnlyRemote,
    OnlyLocal,
    Content,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            ChangeKind::OnlyRemote => write!(f, "{path}: only in the artifact"),
            ChangeKind::OnlyLocal => write!(f, "{path}: only in the directory"),
            ChangeKind::Content => write!(f, "{path}: differs"),
        }
    }
}

/// Compares an artifact with what packing `path` would push.
pub async fn compare_with_path(
    from: &Repository,
    target: &Target,
    path: &Path,
    tree: &PathOptions,
    options: &PullOptions,
) -> Result<Vec<Change>> {
    let metadata = Metadata {
        source: String::new(),
        revision: String::new(),
        created: jiff::Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_path(path, tree, &metadata)?;
    let found = Found::resolve(from, target).await?;
    let remote = found.read(from, options, Listing::default()).await?;
    let mut local = Listing::default();
    if let Some((layer, bytes)) = packed.blobs.first() {
        let archive = name_of(&layer.digest);
        let unpacking = UnpackOptions::gzip(&archive, Rules::Strict);
        unpack(&mut &**bytes, &unpacking, &mut Meter::new(options.budget), &mut local)?;
    }
    Ok(changes(&remote, &local))
}

fn changes(remote: &Listing, local: &Listing) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut change = |path: &Path, kind| changes.push(Change { path: path.to_owned(), kind });
    for (path, digest) in &remote.files {
        match local.files.get(path) {
            None => change(path, ChangeKind::OnlyRemote),
            Some(other) if other != digest => change(path, ChangeKind::Content),
            Some(_) => {}
        }
    }
    for path in local.files.keys().filter(|path| !remote.files.contains_key(*path)) {
        change(path, ChangeKind::OnlyLocal);
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

/// The digests of files by their path.
#[derive(Debug, Default)]
struct Listing {
    files: BTreeMap<PathBuf, Digest>,
}

impl Sink for Listing {
    fn directory(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        let mut buffer = [0; 8 << 10];
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
        }
        self.files.insert(entry.path.to_owned(), hasher.finish());
        Ok(())
    }
}
