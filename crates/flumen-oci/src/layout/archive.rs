//! A layout as one tar file, for places that no network reaches.
//!
//! A tar file cannot be changed in place, so one is either read, or written beside its final name
//! and renamed by [`Archive::finish`]. Sizes are known before content arrives: each blob gets its
//! place in the file at once, and several are written at the same time.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use tempfile::{NamedTempFile, TempPath};

use super::{
    directory::{BLOBS, INDEX, MARKER, check_marker, marker, temporary},
    extent::{Extent, io_error},
    index::{LayoutIndex, MAX_INDEX_BYTES},
    store::{Incoming, Place},
};
use crate::{Descriptor, Digest, Error, Result};

const BLOCK: u64 = 512;
const MAX_ENTRIES: usize = 200_000;
/// Long names and the like, which a reader holds in memory.
const MAX_EXTENSION_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Archive {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    index: Arc<LayoutIndex>,
    blobs: BTreeMap<Digest, Blob>,
    /// The file that is being written; without it the archive is only read.
    draft: Option<Draft>,
}

#[derive(Clone, Debug)]
struct Blob {
    extent: Extent,
    is_complete: bool,
}

#[derive(Debug)]
struct Draft {
    path: TempPath,
    end: u64,
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let state = read(path)?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Begins a new archive, with what is in the one that it will replace.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let old = if path.exists() { Some(read(path)?) } else { None };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(|source| io_error(dir, source))?;
        let draft = temporary(dir)?;
        let state = start(draft, old).map_err(|source| io_error(path, source))?;
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn index(&self) -> Arc<LayoutIndex> {
        Arc::clone(&self.state().index)
    }

    pub(super) fn update<T>(&self, change: impl FnOnce(&mut LayoutIndex) -> T) -> Result<T> {
        let mut state = self.state();
        self.draft(&mut state)?;
        Ok(change(Arc::make_mut(&mut state.index)))
    }

    pub(super) fn locate(&self, digest: &Digest) -> Option<Extent> {
        let state = self.state();
        let blob = state.blobs.get(digest).filter(|blob| blob.is_complete)?;
        Some(blob.extent.clone())
    }

    /// A place for content, and a file that stands there. Content that failed to arrive gets its
    /// old place again.
    pub(super) fn begin(&self, descriptor: &Descriptor) -> Result<Incoming> {
        let mut state = self.state();
        let path = self.draft(&mut state)?.path.to_path_buf();
        let failed = |source| io_error(&path, source);
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        let known = state.blobs.get(&descriptor.digest).map(|blob| blob.extent.clone());
        let offset = if let Some(extent) = known {
            if extent.size != descriptor.size {
                let (digest, expected) = (descriptor.digest.clone(), descriptor.size);
                return Err(Error::SizeMismatch { digest, expected });
            }
            extent.offset
        } else {
            let draft = self.draft(&mut state)?;
            let name = blob_name(&descriptor.digest);
            let size = descriptor.size;
            let offset = append_header(&mut file, draft.end, &name, size).map_err(failed)?;
            draft.end = end_of(offset, size).map_err(failed)?;
            let extent = Extent { path: path.clone(), offset, size };
            let blob = Blob { extent, is_complete: false };
            state.blobs.insert(descriptor.digest.clone(), blob);
            offset
        };
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        Ok(Incoming { file, place: Place::Reserved { path } })
    }

    /// Makes reserved content visible.
    pub(super) fn commit(&self, digest: &Digest) {
        if let Some(blob) = self.state().blobs.get_mut(digest) {
            blob.is_complete = true;
        }
    }

    /// Writes the index and gives the file its name. From then on it is only read.
    pub(super) fn finish(&self) -> Result<()> {
        let mut state = self.state();
        let Some(draft) = state.draft.take() else { return Ok(()) };
        if let Some(digest) = state.blobs.iter().find(|(_, b)| !b.is_complete).map(|(d, _)| d) {
            let (place, digest) = (self.path.clone(), digest.clone());
            return Err(Error::NotHeld { place, digest });
        }
        let index = state.index.to_bytes();
        let written = OpenOptions::new().write(true).open(&draft.path).and_then(|mut file| {
            append_header(&mut file, draft.end, INDEX, index.len() as u64)?;
            file.write_all(&index)?;
            // The rest of the last block and the two empty ones that end an archive.
            let end = file.stream_position()?.next_multiple_of(BLOCK) + 2 * BLOCK;
            file.set_len(end)?;
            file.sync_all()
        });
        written.map_err(|source| io_error(&self.path, source))?;
        draft.path.persist(&self.path).map_err(|error| io_error(&self.path, error.error))?;
        for blob in state.blobs.values_mut() {
            blob.extent.path.clone_from(&self.path);
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is one step, so what a panicking thread left behind is whole.
        self.state.lock()
    }

    fn draft<'a>(&self, state: &'a mut State) -> Result<&'a mut Draft> {
        let read_only = || Error::ReadOnlyArchive { path: self.path.clone() };
        state.draft.as_mut().ok_or_else(read_only)
    }
}

fn blob_name(digest: &Digest) -> String {
    format!("{BLOBS}/{}/{}", digest.algorithm().name(), digest.hex())
}

/// Writes the header of a file at `end` and returns where its content belongs.
fn append_header(file: &mut File, end: u64, name: &str, size: u64) -> io::Result<u64> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(size);
    // In memory and without the content, which comes later and elsewhere.
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_data(&mut header, name, io::empty())?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(builder.get_ref())?;
    file.stream_position()
}

/// Where the next header belongs behind content, whatever size a manifest claims for that.
fn end_of(offset: u64, size: u64) -> io::Result<u64> {
    let end = size.checked_next_multiple_of(BLOCK).and_then(|size| offset.checked_add(size));
    end.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

/// Begins to write: the marker first, then what another archive holds.
fn start(draft: NamedTempFile, old: Option<State>) -> io::Result<State> {
    let (mut file, path) = draft.into_parts();
    let offset = append_header(&mut file, 0, MARKER, marker().len() as u64)?;
    file.write_all(marker())?;
    let mut end = end_of(offset, marker().len() as u64)?;
    let (index, mut blobs) = match old {
        Some(old) => (old.index, old.blobs),
        None => Default::default(),
    };
    for (digest, Blob { extent, .. }) in &mut blobs {
        let mut source = File::open(&extent.path)?;
        source.seek(SeekFrom::Start(extent.offset))?;
        let offset = append_header(&mut file, end, &blob_name(digest), extent.size)?;
        io::copy(&mut source.take(extent.size), &mut file)?;
        end = end_of(offset, extent.size)?;
        *extent = Extent { path: path.to_path_buf(), offset, size: extent.size };
    }
    Ok(State { index, blobs, draft: Some(Draft { path, end }) })
}

/// Finds what an archive holds without reading the blobs.
fn read(path: &Path) -> Result<State> {
    let invalid = |reason: String| Error::InvalidLayout { path: path.to_owned(), reason };
    let unreadable =
        |error: io::Error| invalid(format!("not a tar file that can be read: {error}"));
    let file = File::open(path).map_err(|source| io_error(path, source))?;
    if !file.metadata().map_err(|source| io_error(path, source))?.is_file() {
        return Err(invalid("not a regular file".to_owned()));
    }
    bound(&file).map_err(unreadable)?;

    let mut blobs = BTreeMap::new();
    let mut small = HashMap::new();
    rewind(&file).map_err(unreadable)?;
    let mut archive = tar::Archive::new(&file);
    for entry in archive.entries_with_seek().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name);
        let size = entry.size();
        if let Some(digest) = blob_digest(name) {
            let offset = entry.raw_file_position();
            let extent = Extent { path: path.to_owned(), offset, size };
            blobs.insert(digest, Blob { extent, is_complete: true });
        } else if name == MARKER || name == INDEX {
            if size > MAX_INDEX_BYTES {
                return Err(invalid(format!("`{name}` is larger than {MAX_INDEX_BYTES} bytes")));
            }
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(unreadable)?;
            small.insert(name.to_owned(), bytes);
        }
    }
    let file = |name| {
        let missing = || invalid(format!("not an OCI layout: there is no `{name}` in it"));
        small.get(name).ok_or_else(missing)
    };
    check_marker(&path.join(MARKER), file(MARKER)?)?;
    let index = LayoutIndex::parse(&path.join(INDEX), file(INDEX)?)?;
    Ok(State { index: Arc::new(index), blobs, draft: None })
}

/// Goes over the raw headers once, because a reader of names would hold names of any length.
fn bound(file: &File) -> io::Result<()> {
    let mut archive = tar::Archive::new(file);
    for (number, entry) in archive.entries_with_seek()?.raw(true).enumerate() {
        let entry = entry?;
        let kind = entry.header().entry_type();
        if number >= MAX_ENTRIES {
            return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
        }
        let is_extension = kind.is_gnu_longname()
            || kind.is_gnu_longlink()
            || kind.is_pax_local_extensions()
            || kind.is_pax_global_extensions();
        if is_extension && entry.size() > MAX_EXTENSION_BYTES {
            return Err(io::Error::other("it has a name that is too long"));
        }
    }
    Ok(())
}

fn rewind(mut file: &File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0)).map(drop)
}

/// The digest that the name of an entry spells, if it is a blob.
fn blob_digest(name: &str) -> Option<Digest> {
    let (algorithm, hex) = name.strip_prefix(BLOBS)?.strip_prefix('/')?.split_once('/')?;
    format!("{algorithm}:{hex}").parse().ok()
}
