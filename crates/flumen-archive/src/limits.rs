//! Limits of what an archive may hold.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::UnpackError;

/// Limits of the whole content, of one archive or of several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of all files after decompression.
    pub bytes: u64,
    /// Entries of any kind.
    pub files: u64,
}

impl Budget {
    const BYTES: u64 = 256 << 20;
    const FILES: u64 = 10_000;

    /// Returns a budget of so many bytes whose number of files grows with them.
    pub fn of_bytes(bytes: u64) -> Self {
        let times = bytes.div_ceil(Self::BYTES).max(1);
        Self { bytes, files: Self::FILES.saturating_mul(times) }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: Self::BYTES, files: Self::FILES }
    }
}

/// Limits of a single entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryLimits {
    /// Bytes of a file.
    pub file_bytes: u64,
    /// Names in a path.
    pub depth: usize,
    /// Bytes of a path.
    pub path_bytes: usize,
}

/// Names in a path. Archives are packed no deeper than they are unpacked by default.
pub(crate) const MAX_DEPTH: usize = 100;

impl Default for EntryLimits {
    /// Leaves the size of a file to the budget.
    fn default() -> Self {
        Self { file_bytes: u64::MAX, depth: MAX_DEPTH, path_bytes: 4096 }
    }
}

/// Spent part of a budget, and the paths that are taken.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    bytes: u64,
    files: u64,
    paths: BTreeSet<PathBuf>,
}

impl Meter {
    pub fn new(budget: Budget) -> Self {
        Self { budget, bytes: 0, files: 0, paths: BTreeSet::new() }
    }

    /// Counts a file before it is read. `archive` names the archive in messages.
    pub fn charge(&mut self, archive: &str, size: u64) -> Result<(), UnpackError> {
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.budget.bytes {
            return Err(UnpackError::TooLarge {
                archive: archive.to_owned(),
                limit: self.budget.bytes,
            });
        }
        self.count(archive)
    }

    /// Counts an entry without content.
    pub(crate) fn count(&mut self, archive: &str) -> Result<(), UnpackError> {
        self.files += 1;
        if self.files > self.budget.files {
            return Err(UnpackError::TooManyFiles {
                archive: archive.to_owned(),
                limit: self.budget.files,
            });
        }
        Ok(())
    }

    /// Takes a path that no other entry may have or use as its directory.
    pub fn reserve(&mut self, archive: &str, path: &Path) -> Result<(), UnpackError> {
        let is_below_file = path.ancestors().skip(1).any(|parent| self.paths.contains(parent));
        if is_below_file || !self.paths.insert(path.to_owned()) {
            return Err(UnpackError::duplicate(archive, path));
        }
        Ok(())
    }
}
