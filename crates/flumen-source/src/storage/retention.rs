//! Which artifacts of an owner stay.

use std::{
    fs, io,
    time::{Duration, SystemTime},
};

use super::{Owner, Storage, StorageError, at};

/// How long artifacts stay that are not the current one: some consumer may be reading them.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// How many stay, the current one included.
    pub records: usize,
    pub ttl: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self { records: 2, ttl: Duration::from_mins(1) }
    }
}

impl Storage {
    /// Removes what an owner no longer needs: what is too old, and what is too much.
    ///
    /// The current file stays, and so do its other names. Says how many files were removed.
    pub fn retain(
        &self,
        owner: &Owner,
        current: &str,
        retention: Retention,
        now: SystemTime,
    ) -> Result<usize, StorageError> {
        let mut others = Vec::new();
        for (path, found) in self.files(owner)? {
            let is_current = path.file_name().is_some_and(|name| name == current);
            let is_alias = path
                .file_name()
                .is_some_and(|name| name.to_str().is_some_and(|name| ALIASES.contains(&name)));
            if !is_current && !is_alias {
                others.push((found.modified().map_err(at(&path))?, path));
            }
        }
        others.sort();
        let surplus = (others.len() + 1).saturating_sub(retention.records.max(1));
        let mut index = self.index();
        let mut removed = 0;
        for (place, (stored, path)) in others.iter().enumerate() {
            let age = now.duration_since(*stored).unwrap_or_default();
            if place < surplus || age > retention.ttl {
                self.unlink(&mut index, path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes everything of an owner; says whether there was anything.
    pub fn remove_owner(&self, owner: &Owner) -> Result<bool, StorageError> {
        let files = self.files(owner)?;
        let mut index = self.index();
        for (path, _) in &files {
            self.unlink(&mut index, path)?;
        }
        let directory = self.root.join(owner.directory());
        match fs::remove_dir(&directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&directory)(error)),
            _ => Ok(!files.is_empty()),
        }
    }

    fn files(
        &self,
        owner: &Owner,
    ) -> Result<Vec<(std::path::PathBuf, fs::Metadata)>, StorageError> {
        let directory = self.root.join(owner.directory());
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&directory)(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(at(&directory))?;
            let path = entry.path();
            let found = entry.metadata().map_err(at(&path))?;
            files.push((path, found));
        }
        Ok(files)
    }
}

/// Names that always lead to the current artifact.
const ALIASES: [&str; 2] = ["latest.tar.gz", "index.yaml"];
