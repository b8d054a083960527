//! A layout as a directory, which several processes may use at once.
//!
//! A blob is written under a temporary name and renamed when it is complete, so it is there whole
//! or not at all. `index.json` is replaced the same way, by whoever holds the lock on `oci-layout`,
//! a file that never changes.
//!
//! Nothing below the root may be a symbolic link: content comes from the layout, and goes into it.

use std::{
    fs::{self, File, FileTimes, Metadata, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempPath};

use super::{
    extent::{Extent, io_error},
    index::{LayoutIndex, MAX_INDEX_BYTES},
    snapshot::Snapshot,
    store::{Incoming, Place},
};
use crate::{Descriptor, Digest, Error, Result};

pub(super) const MARKER: &str = "oci-layout";
pub(super) const INDEX: &str = "index.json";
pub(super) const BLOBS: &str = "blobs";
/// Begins the name of what is being written.
pub(super) const TEMPORARY: &str = ".incomplete-";

const MAX_MARKER_BYTES: u64 = 4 << 10;

/// The content of the file that makes a directory a layout.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marker {
    image_layout_version: String,
}

pub(super) fn marker() -> &'static [u8] {
    br#"{"imageLayoutVersion":"1.0.0"}"#
}

/// Refuses layouts of another version than is known here.
pub(super) fn check_marker(path: &Path, bytes: &[u8]) -> Result<()> {
    let invalid = |reason| Error::InvalidLayout { path: path.to_owned(), reason };
    let marker: Marker = serde_json::from_slice(bytes)
        .map_err(|error| invalid(format!("the layout's version cannot be read: {error}")))?;
    if marker.image_layout_version != "1.0.0" {
        let version: String = marker.image_layout_version.chars().take(20).collect();
        return Err(invalid(format!("layout version `{version}` is not known, only 1.0.0 is")));
    }
    Ok(())
}

#[derive(Debug)]
pub(super) struct Directory {
    root: PathBuf,
    snapshot: Snapshot,
}

impl Directory {
    pub(super) fn open(root: &Path) -> Result<Self> {
        let path = root.join(MARKER);
        let marker = read_file(&path, MAX_MARKER_BYTES)?.ok_or_else(|| Error::InvalidLayout {
            path: root.to_owned(),
            reason: format!("not an OCI layout: there is no `{MARKER}` in it"),
        })?;
        check_marker(&path, &marker)?;
        Ok(Self { root: root.to_owned(), snapshot: Snapshot::default() })
    }

    /// Opens a layout, or makes one of a directory that is missing or empty.
    pub(super) fn create(root: &Path, visibility: Visibility) -> Result<Self> {
        create_dir(root, visibility)?;
        if !root.join(MARKER).exists() {
            require_empty(root)?;
            place(root, MARKER, marker())?;
        }
        let opened = Self::open(root)?;
        let _lock = opened.lock()?;
        if !root.join(INDEX).exists() {
            opened.write_index(LayoutIndex::default())?;
        }
        Ok(opened)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn index(&self) -> Result<Arc<LayoutIndex>> {
        let path = self.root.join(INDEX);
        let missing = || Error::InvalidLayout {
            path: self.root.clone(),
            reason: format!("there is no `{INDEX}` in it"),
        };
        let metadata = regular_file(&path)?.ok_or_else(missing)?;
        if let Some(index) = self.snapshot.get(&metadata) {
            return Ok(index);
        }
        let bytes = read_file(&path, MAX_INDEX_BYTES)?.ok_or_else(missing)?;
        Ok(self.snapshot.set(&metadata, LayoutIndex::parse(&path, &bytes)?))
    }

    /// Changes the index; other processes see it as it was or as it will be.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut LayoutIndex) -> T) -> Result<T> {
        let _lock = self.lock()?;
        let mut index = Arc::unwrap_or_clone(self.index()?);
        let result = change(&mut index);
        self.write_index(index)?;
        Ok(result)
    }

    /// Where content lies, if it is here.
    pub(super) fn locate(&self, digest: &Digest) -> Result<Option<Extent>> {
        let path = self.blob_path(digest)?;
        let file = regular_file(&path)?;
        Ok(file.map(|metadata| Extent { path, offset: 0, size: metadata.len() }))
    }

    /// Whether content is here, and keeps it from being collected for as long as new content is.
    pub(super) fn keep(&self, descriptor: &Descriptor) -> Result<bool> {
        // A collection holds the lock alone: it has removed the content by now, or will see its time.
        let lock = self.root.join(MARKER);
        let _lock = File::open(&lock)
            .and_then(|file| file.lock_shared().map(|()| file))
            .map_err(|source| io_error(&lock, source))?;
        let Some(extent) = self.locate(&descriptor.digest)? else { return Ok(false) };
        if extent.size != descriptor.size {
            return Ok(false);
        }
        let now = FileTimes::new().set_modified(SystemTime::now());
        // Where nothing may be changed nothing is collected either.
        let _ = File::open(&extent.path).and_then(|file| file.set_times(now));
        Ok(true)
    }

    /// A file for content that is on its way.
    pub(super) fn begin(&self, digest: &Digest) -> Result<Incoming> {
        let target = self.blob_path(digest)?;
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir).map_err(|source| io_error(dir, source))?;
        }
        let (file, path) = temporary(&self.root)?.into_parts();
        Ok(Incoming { file, place: Place::Temporary { path, target } })
    }

    pub(super) fn lock(&self) -> Result<File> {
        let path = self.root.join(MARKER);
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|source| io_error(&path, source))
    }

    /// Must be called by the holder of the lock.
    pub(super) fn write_index(&self, index: LayoutIndex) -> Result<()> {
        // What the index speaks of must not be lost while the index is kept.
        for algorithm in ["sha256", "sha512"] {
            sync_dir(&self.root.join(BLOBS).join(algorithm))?;
        }
        let metadata = place(&self.root, INDEX, &index.to_bytes())?;
        self.snapshot.set(&metadata, index);
        sync_dir(&self.root)
    }

    fn blob_path(&self, digest: &Digest) -> Result<PathBuf> {
        let blobs = self.root.join(BLOBS);
        let dir = blobs.join(digest.algorithm().name());
        refuse_link(&blobs)?;
        refuse_link(&dir)?;
        Ok(dir.join(digest.hex()))
    }
}

/// Replaces a small file of the layout, and describes the new one.
fn place(root: &Path, name: &str, bytes: &[u8]) -> Result<Metadata> {
    let target = root.join(name);
    let (mut file, path) = temporary(root)?.into_parts();
    let written = file.write_all(bytes).and_then(|()| file.metadata());
    let metadata = written.map_err(|source| io_error(&target, source))?;
    persist(&file, path, &target)?;
    Ok(metadata)
}

/// A file for what will be renamed within `dir`, readable by whom the mask allows.
pub(super) fn temporary(dir: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    let readable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(readable);
    builder.tempfile_in(dir).map_err(|source| io_error(dir, source))
}

/// Gives a complete file its name. Its bytes reach the disk before the name does.
pub(super) fn persist(file: &File, path: TempPath, target: &Path) -> Result<()> {
    file.sync_data().map_err(|source| io_error(target, source))?;
    path.persist(target).map_err(|error| io_error(target, error.error))
}

/// Who may look into a new layout.
#[derive(Clone, Copy, Debug)]
pub(super) enum Visibility {
    /// Whom the file mode creation mask allows.
    Default,
    /// Its owner alone.
    Private,
}

fn create_dir(root: &Path, visibility: Visibility) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if matches!(visibility, Visibility::Private) {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = visibility;
    builder.create(root).map_err(|source| io_error(root, source))
}

/// A directory with other things in it was probably not meant. Files on their way are of someone who
/// is making the same layout.
fn require_empty(root: &Path) -> Result<()> {
    for entry in fs::read_dir(root).map_err(|source| io_error(root, source))? {
        let name = entry.map_err(|source| io_error(root, source))?.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(TEMPORARY) && name != MARKER {
            return Err(Error::InvalidLayout {
                path: root.to_owned(),
                reason: "the directory is neither empty nor an OCI layout".to_owned(),
            });
        }
    }
    Ok(())
}

/// The content of a small regular file, if it is there.
fn read_file(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    let Some(size) = regular_file(path)?.map(|metadata| metadata.len()) else { return Ok(None) };
    let mut bytes = Vec::new();
    if size <= max {
        File::open(path)
            .and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
            .map_err(|source| io_error(path, source))?;
    }
    if size.max(bytes.len() as u64) > max {
        return Err(Error::InvalidLayout {
            path: path.to_owned(),
            reason: format!("the file is larger than {max} bytes"),
        });
    }
    Ok(Some(bytes))
}

/// What is known about a file, if it is there. Refuses links, directories, pipes and devices.
fn regular_file(path: &Path) -> Result<Option<Metadata>> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => return Ok(Some(metadata)),
        Ok(metadata) if metadata.is_symlink() => "a symbolic link",
        Ok(metadata) if metadata.is_dir() => "a directory",
        Ok(_) => "a pipe or device",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error(path, source)),
    };
    Err(Error::InvalidLayout {
        path: path.to_owned(),
        reason: format!("{kind} where a regular file belongs"),
    })
}

fn refuse_link(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Err(Error::InvalidLayout {
            path: path.to_owned(),
            reason: "a symbolic link where a directory belongs".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Makes the names in a directory last, where that is a thing of its own.
fn sync_dir(path: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(path).and_then(|dir| dir.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(path, error)),
        _ => Ok(()),
    }
}
