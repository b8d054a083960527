//! The file system of this machine.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::{
    borrow::Cow,
    env, fs, io,
    path::{Component, Path, PathBuf},
};

#[cfg(not(unix))]
use self::portable as system;
#[cfg(unix)]
use self::unix as system;
use crate::{Bounds, Entry, EntryKind, FsError, Tree, clean::clean};

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskTree;

impl Tree for DiskTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let path = absolute(path)?;
        system::real_dir(&path)
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let path = absolute(path)?;
        system::read(&path, bounds)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        let dir = absolute(dir)?;
        let mut names = fs::read_dir(&dir)
            .and_then(|entries| {
                entries
                    .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                    .collect::<Result<Vec<_>, _>>()
            })
            .map_err(|error| FsError::from_io(&dir, error))?;
        names.sort_unstable();
        Ok(names)
    }

    fn entries(&self, dir: &Path) -> Result<Vec<Entry>, FsError> {
        let dir = absolute(dir)?;
        let mut entries = fs::read_dir(&dir)
            .and_then(|entries| {
                entries.map(|entry| entry_of(&entry?)).collect::<Result<Vec<_>, _>>()
            })
            .map_err(|error| FsError::from_io(&dir, error))?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }
}

fn entry_of(entry: &fs::DirEntry) -> io::Result<Entry> {
    let found = entry.file_type()?;
    let kind = if found.is_dir() {
        EntryKind::Directory
    } else if found.is_file() {
        EntryKind::File { is_executable: system::is_executable(&entry.metadata()?) }
    } else {
        EntryKind::Other
    };
    Ok(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind })
}

/// The path, cleaned and starting at the root of the file system.
fn absolute(path: &Path) -> Result<Cow<'_, Path>, FsError> {
    if path.as_os_str().is_empty() {
        return Err(FsError::NotFound { path: PathBuf::new() });
    }
    let path = clean(path);
    if path.is_absolute() {
        return Ok(path);
    }
    let current = if path.components().next() == Some(Component::ParentDir) {
        logical_current_dir()
    } else {
        None
    };
    let current = match current {
        Some(current) => current,
        None => env::current_dir().map_err(|error| FsError::from_io(&path, error))?,
    };
    Ok(Cow::Owned(clean(&current.join(path)).into_owned()))
}

/// The current directory as the shell names it.
///
/// Below a linked directory `..` means what the prompt shows, not the parent of the link's target;
/// Go programs take `$PWD` the same way, after checking that it is where the process really is.
fn logical_current_dir() -> Option<PathBuf> {
    let current = PathBuf::from(env::var_os("PWD")?);
    (current.is_absolute() && system::is_same_file(&current, Path::new("."))).then_some(current)
}

#[cfg(all(test, unix))]
mod tests;
