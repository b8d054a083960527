//! Removes what nothing in the index leads to.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    Shared,
    directory::{BLOBS, Directory, TEMPORARY},
    extent::io_error,
    index::LayoutIndex,
    store::Store,
};
use crate::{Algorithm, Descriptor, Digest, Document, Error, RawManifest, Result};

/// Nobody writes one file for longer; a process that did has died.
const ABANDONED: Duration = Duration::from_hours(24);

/// What a collection removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub blobs: u64,
    pub bytes: u64,
}

impl Shared {
    pub(super) fn collect(&self, min_age: Duration) -> Result<Collected> {
        let Store::Directory(directory) = &self.store else {
            return Err(Error::ReadOnlyArchive { path: self.store.path().to_owned() });
        };
        let _lock = directory.lock()?;
        let index = directory.index()?;
        let reachable = self.reachable(&index)?;
        let before = index.entries().len();
        let mut index = Arc::unwrap_or_clone(index);
        index.retain(|entry| reachable.contains(&entry.descriptor().digest));
        if index.entries().len() < before {
            directory.write_index(index)?;
        }
        sweep(directory, &reachable, min_age)
    }

    /// Everything that entries lead to. What only speaks about a manifest lives as long as that.
    fn reachable(&self, index: &LayoutIndex) -> Result<HashSet<Digest>> {
        let mut about: HashMap<Digest, Vec<Descriptor>> = HashMap::new();
        let mut open = Vec::new();
        for entry in index.entries() {
            // An entry whose content is gone leads nowhere.
            if self.store.locate(&entry.descriptor().digest)?.is_none() {
                continue;
            }
            match self.subject(entry)? {
                Some(subject) => about.entry(subject).or_default().push(entry.descriptor().clone()),
                None => open.push(entry.descriptor().clone()),
            }
        }
        let mut reachable = HashSet::new();
        while let Some(descriptor) = open.pop() {
            if !reachable.insert(descriptor.digest.clone()) {
                continue;
            }
            open.extend(about.remove(&descriptor.digest).unwrap_or_default());
            open.extend(self.children(&descriptor)?);
        }
        Ok(reachable)
    }

    fn children(&self, descriptor: &Descriptor) -> Result<Vec<Descriptor>> {
        if !descriptor.is_manifest() {
            return Ok(Vec::new());
        }
        // An index may list platforms that nobody has copied.
        let Some(extent) = self.store.locate(&descriptor.digest)? else { return Ok(Vec::new()) };
        let bytes = super::read_manifest(&extent, &descriptor.digest)?;
        let manifest = RawManifest { descriptor: descriptor.clone(), bytes };
        Ok(match manifest.parse()? {
            Document::Index(index) => index.manifests,
            Document::Manifest(mut manifest) => {
                manifest.layers.push(manifest.config);
                manifest.layers
            }
        })
    }
}

fn sweep(directory: &Directory, keep: &HashSet<Digest>, min_age: Duration) -> Result<Collected> {
    let mut collected = Collected::default();
    for algorithm in [Algorithm::Sha256, Algorithm::Sha512] {
        let dir = directory.root().join(BLOBS).join(algorithm.name());
        remove_old(&dir, min_age, &mut collected, |name| {
            let digest = format!("{}:{name}", algorithm.name()).parse();
            digest.is_ok_and(|digest| !keep.contains(&digest))
        })?;
    }
    // Leftovers are no blobs that anyone could count.
    let mut leftovers = Collected::default();
    let age = min_age.max(ABANDONED);
    remove_old(directory.root(), age, &mut leftovers, |name| name.starts_with(TEMPORARY))?;
    Ok(collected)
}

/// Removes files of a directory by name, if they are old enough.
fn remove_old(
    dir: &Path,
    min_age: Duration,
    collected: &mut Collected,
    is_garbage: impl Fn(&str) -> bool,
) -> Result<()> {
    let failed = |source| io_error(dir, source);
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_str().is_some_and(&is_garbage) {
            continue;
        }
        let metadata = entry.metadata().map_err(failed)?;
        let modified = metadata.modified().map_err(failed)?;
        // A time in the future is no age at all.
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        if metadata.is_file() && age >= min_age {
            fs::remove_file(entry.path()).map_err(failed)?;
            collected.blobs += 1;
            collected.bytes += metadata.len();
        }
    }
    Ok(())
}
